// Keyboard shortcuts, and answers without reloading the page. Without this file all buttons work as plain forms.
"use strict";

const main = document.getElementById("main");
const live = document.getElementById("live");
let busy = false;
let row = 0;
let anchor = null; // the first and the last word that were selected, in this order
let head = null;
let byWords = false; // whether words were selected last, or a row of the list
let drags = false;

function isTyping(target) {
  return target.matches("input:not([type=hidden]), select, textarea");
}

function show(reply) {
  const wasInside = main.contains(document.activeElement);
  const before = shownTask();
  main.innerHTML = reply.main; // made by the server, which escapes everything
  if (shownTask() !== before) [row, byWords] = [firstOpen(), false];
  live.textContent = reply.message;
  prepare();
  if (wasInside) (main.querySelector(".current") || main).focus({ preventScroll: true });
}

async function send(form, button) {
  if (busy) return;
  busy = true;
  main.classList.add("busy");
  try {
    const reply = await fetch(form.action, {
      method: "POST",
      body: new URLSearchParams(new FormData(form, button)),
      headers: { Accept: "application/json" },
    });
    if (reply.status === 401) location.assign("/sign-in");
    else show(await reply.json());
  } catch {
    // the same answer twice is one answer, so trying again is safe
    report("The server cannot be reached. Your answer was not saved; please try again.");
  } finally {
    busy = false;
    main.classList.remove("busy");
  }
}

// an error that the server did not report
function report(message) {
  live.textContent = message;
  const shown = main.querySelector(".message");
  if (!shown) return;
  shown.textContent = message;
  shown.classList.add("wrong");
}

function prepare() {
  const filter = document.getElementById("filter");
  if (filter) filter.parentElement.hidden = false;
  [anchor, head] = [null, byWords ? head : null];
  moveTo(row, false);
  if (byWords) select(head, head);
}

// the first row that is neither accepted nor rejected
function firstOpen() {
  return Math.max(0, [...main.querySelectorAll("[data-row]")].findIndex((each) => each.matches(".proposed")));
}

// the number of the task in which words are marked
function shownTask() {
  const words = main.querySelector("[data-words]");
  return words && words.closest("form").elements.task.value;
}

// the list of all labels: space opens it, letters narrow it down, Enter takes the first one left

function toggleList() {
  const list = document.getElementById("all");
  if (!list) return;
  list.open = !list.open;
  if (list.open) document.getElementById("filter").focus();
}

function narrow(filter) {
  const wanted = filter.value.trim().toLowerCase();
  for (const button of document.querySelectorAll("#all .choice")) {
    const label = button.querySelector("b").textContent.toLowerCase();
    button.hidden = !label.startsWith(wanted);
  }
}

function inFilter(event) {
  if (event.key === "Escape") {
    document.getElementById("all").open = false;
    main.focus();
  } else if (event.key === "Enter") {
    event.preventDefault();
    const first = document.querySelector("#all .choice:not([hidden])");
    if (first && event.target.value.trim()) first.click();
  }
}

// the concordance: keys apply to the current row

function moveTo(number, scrolls) {
  const rows = main.querySelectorAll("[data-row]");
  if (!rows.length) return;
  row = Math.max(0, Math.min(number, rows.length - 1));
  for (const each of rows) each.classList.toggle("current", each === rows[row]);
  if (scrolls) rows[row].scrollIntoView({ block: "nearest" });
  if (scrolls) rows[row].focus({ preventScroll: true });
  if (rows[row].dataset.first && !byWords) select(Number(rows[row].dataset.first), Number(rows[row].dataset.last));
}

function moveBy(step) {
  byWords = false;
  moveTo(row + step, true);
}

function pressInRow(key) {
  const button = main.querySelector(`.current [data-row-key="${CSS.escape(key)}"]`);
  if (!button) return false;
  const number = row + 1;
  button.form.requestSubmit(button);
  row = number;
  return true;
}

// spans: arrows and the pointer select words, a row of the list selects its own, and a number gives them a type

function select(from, to) {
  const words = [...main.querySelectorAll("[data-token]")];
  if (!words.length || to === null) return;
  [anchor, head] = [from, to];
  const [low, high] = from < to ? [from, to] : [to, from];
  for (const word of words) word.classList.toggle("selected", low <= word.dataset.token && word.dataset.token <= high);
  const fields = words[0].closest("form").elements;
  [fields.first.value, fields.last.value] = [low, high];
}

function selectNext(key, extend) {
  const sentence = main.querySelector("[data-words]");
  const numbers = [...sentence.querySelectorAll("[data-token]")].map((word) => Number(word.dataset.token));
  const step = (key === "ArrowRight") === (getComputedStyle(sentence).direction === "ltr") ? 1 : -1;
  const [first, last] = [numbers[0], numbers[numbers.length - 1]];
  const to = head === null ? (step > 0 ? first : last) : Math.max(first, Math.min(head + step, last));
  byWords = true;
  select(extend && anchor !== null ? anchor : to, to);
  live.textContent = [...sentence.querySelectorAll(".selected")].map((word) => word.textContent).join(" ");
}

function touch(event) {
  const word = event.target.closest("[data-token]");
  if (!word || event.button) return;
  const number = Number(word.dataset.token);
  const isOutside = anchor !== null && (number < Math.min(anchor, head) || number > Math.max(anchor, head));
  const extend = byWords && anchor !== null && (event.shiftKey || (event.pointerType === "touch" && isOutside));
  byWords = true;
  drags = event.pointerType !== "touch";
  select(extend ? anchor : number, number);
}

function drag(event) {
  const word = event.target.closest("[data-token]");
  if (drags && word) select(anchor, Number(word.dataset.token));
}

// a word that was not dragged from stands for the innermost span around it, if there is one
function release(event) {
  const word = event.target.closest("[data-token]");
  drags = false;
  if (!word || anchor !== head || !word.closest(".span")) return;
  const number = Number(word.dataset.token);
  const rows = [...main.querySelectorAll("[data-row]:not(.rejected)")];
  const length = (each) => each.dataset.last - each.dataset.first;
  const [around] = rows
    .filter((each) => each.dataset.first <= number && number <= each.dataset.last)
    .sort((one, other) => length(one) - length(other)); // the innermost
  byWords = false;
  moveTo([...main.querySelectorAll("[data-row]")].indexOf(around), false);
}

function press(event) {
  const key = event.key;
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  if (event.target.id === "filter") return inFilter(event);
  if (isTyping(event.target)) return;
  if (key === "Enter") return;
  if (key === " " && document.getElementById("all") && !event.target.closest("button, a, summary")) toggleList();
  else if (key === "ArrowDown" || key === "j") moveBy(1);
  else if (key === "ArrowUp" || key === "k") moveBy(-1);
  else if ((key === "ArrowLeft" || key === "ArrowRight") && main.querySelector("[data-words]")) selectNext(key, event.shiftKey);
  else if (key === "Escape" && document.getElementById("all")) document.getElementById("all").open = false;
  else if (!event.repeat && main.querySelector(`[data-key="${CSS.escape(key)}"]`))
    main.querySelector(`[data-key="${CSS.escape(key)}"]`).click();
  else if (event.repeat || !pressInRow(key)) return;
  if (key === " " || main.querySelector("[data-row], [data-words]") || key.length === 1) event.preventDefault();
}

document.addEventListener("keydown", press);
document.addEventListener("input", (event) => {
  if (event.target.id === "filter") narrow(event.target);
});
document.addEventListener("click", (event) => {
  const clicked = event.target.closest("[data-row]");
  if (clicked) byWords = false;
  if (clicked) moveTo([...main.querySelectorAll("[data-row]")].indexOf(clicked), false);
});
document.addEventListener("pointerdown", touch);
document.addEventListener("pointerover", drag);
document.addEventListener("pointerup", release);
document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-live]")) return;
  event.preventDefault();
  send(event.target, event.submitter);
});
row = firstOpen();
prepare();
