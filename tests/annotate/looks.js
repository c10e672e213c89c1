// What is wrong with the page as it looks: a list of complaints. Called with the least height of targets, in pixels.
(least) => {
  const complaints = [];
  const about = (element) => `${element.tagName.toLowerCase()} ${(element.textContent || element.name || "").trim().slice(0, 30)}`;
  const parse = (color) => color.match(/[\d.]+/g).map(Number);
  const isShown = (element) => element.checkVisibility() && element.getBoundingClientRect().width > 1 && !element.closest(".unseen, .skip");

  const wide = document.documentElement.scrollWidth;
  if (wide > window.innerWidth) complaints.push(`scrolls to ${wide} of ${window.innerWidth}`);

  for (const element of document.querySelectorAll("button, select, input:not([type=hidden]), summary, nav a, a.button")) {
    const box = element.getBoundingClientRect();
    if (!isShown(element)) continue;
    if (box.height < least || box.width < least) complaints.push(`${about(element)}: ${box.width} x ${box.height}`);
    const scrolls = element.closest(".wide");
    if (!scrolls && (box.left < 0 || box.right > window.innerWidth)) complaints.push(`${about(element)}: outside`);
  }

  const background = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(each).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const light = (color) => {
    const [r, g, b] = color.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  let texts = 0;
  for (const element of document.querySelectorAll("body *")) {
    if (!(hasText(element) || element.placeholder || element.value) || element.closest("option") || !isShown(element)) continue;
    texts += 1;
    const style = getComputedStyle(element, element.placeholder ? "::placeholder" : null);
    const ratio = contrast(parse(element.closest("svg") ? style.fill : style.color).slice(0, 3), background(element));
    if (ratio < 4.5) complaints.push(`${about(element)}: contrast ${ratio.toFixed(2)}`);
  }
  if (texts < 3) complaints.push(`${texts} texts on the page`);
  return complaints;
}
