"""jiang-2015: annotation adaptation for word segmentation, from the People's Daily to the guideline of the CTB."""
