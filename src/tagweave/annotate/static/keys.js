// Keyboard shortcuts, and answers without reloading the page. Without this file all buttons work as plain forms.
"use strict";

const main = document.getElementById("main");
const live = document.getElementById("live");
let busy = false;
let row = 0;

function isTyping(target) {
  return target.matches("input:not([type=hidden]), select, textarea");
}

function show(reply) {
  const wasInside = main.contains(document.activeElement);
  main.innerHTML = reply.main; // made by the server, which escapes everything
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
  moveTo(row, false);
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
}

function pressInRow(key) {
  const button = main.querySelector(`.current [data-row-key="${CSS.escape(key)}"]`);
  if (!button) return false;
  const number = row + 1;
  button.form.requestSubmit(button);
  row = number;
  return true;
}

function press(event) {
  const key = event.key;
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  if (event.target.id === "filter") return inFilter(event);
  if (isTyping(event.target)) return;
  if (key === "Enter") return;
  if (key === " " && document.getElementById("all") && !event.target.closest("button, a, summary")) toggleList();
  else if (key === "ArrowDown" || key === "j") moveTo(row + 1, true);
  else if (key === "ArrowUp" || key === "k") moveTo(row - 1, true);
  else if (key === "Escape" && document.getElementById("all")) document.getElementById("all").open = false;
  else if (!event.repeat && main.querySelector(`[data-key="${CSS.escape(key)}"]`))
    main.querySelector(`[data-key="${CSS.escape(key)}"]`).click();
  else if (event.repeat || !pressInRow(key)) return;
  if (key === " " || main.querySelector("[data-row]") || key.length === 1) event.preventDefault();
}

document.addEventListener("keydown", press);
document.addEventListener("input", (event) => {
  if (event.target.id === "filter") narrow(event.target);
});
document.addEventListener("click", (event) => {
  const clicked = event.target.closest("[data-row]");
  if (clicked) moveTo([...main.querySelectorAll("[data-row]")].indexOf(clicked), false);
});
document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-live]")) return;
  event.preventDefault();
  send(event.target, event.submitter);
});
prepare();
