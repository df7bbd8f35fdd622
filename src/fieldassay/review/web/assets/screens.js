// The screens, and the start of each.
function sheetShell() {
  return [
    el("div", { class: "bar" }, el("h1", { id: "document-name", class: "document-name" }), el("span", { id: "count", class: "small" }), el("span", { id: "saving", class: "small", role: "status" }),
      el("span", { class: "bar-right" },
        el("button", { type: "button", class: "button", on: { click: () => find("#keys").showModal() } }, "Keys ", el("kbd", { text: "?" })),
        el("button", { type: "button", class: "button", on: { click: () => declineSheet() } }, "Pass on"),
        el("button", { type: "button", class: "button primary", on: { click: () => desk.finish() } }, "Finish ", el("kbd", { text: "Ctrl+Enter" })))),
    el("p", { id: "told", class: "told", role: "alert" }),
    el("div", { class: "desk" },
      el("section", { class: "page-side", "aria-label": "Document" },
        pageTools(),
        el("div", { id: "page", tabindex: "0", role: "region", "aria-label": "Page" })),
      el("section", { id: "values", "aria-label": "Values" })),
    keysDialog(),
    el("dialog", { id: "unreadable", "aria-labelledby": "unreadable-title" }),
  ];
}

const pageTools = () => el("div", { class: "page-tools" }, tool("Previous page", "‹", () => viewer.show(viewer.number - 1)), el("span", { id: "page-number", class: "small" }), tool("Next page", "›", () => viewer.show(viewer.number + 1)),
  tool("Smaller", "−", () => viewer.setZoom(viewer.zoom / 1.25)), tool("Larger", "+", () => viewer.setZoom(viewer.zoom * 1.25)));

const tool = (label, text, act) => el("button", { type: "button", class: "icon", "aria-label": label, title: label, on: { click: act } }, text);

async function startNext() {
  const { sheet, held_by_others: held, until } = await ask("POST", "/api/claim", {});
  if (sheet) window.location.assign(`/sheet/${sheet}`);
  else if (document.body.dataset.screen !== "queue") window.location.assign("/");
  else tell(held ? `Nothing is left for you. ${showCount(held, "sheet is", "sheets are")} with others${until ? `, until ${new Date(until).toLocaleTimeString()} at the earliest` : ", who began them"}.` : "Nothing is left for you.");
}

async function declineSheet() {
  await saver.settle();
  await ask("POST", `/api/sheets/${desk.sheet.id}/decline`, { note: "" }).then(startNext, (error) => tell(error.message));
}

// What the spec cannot read is asked about before a sheet is finished.
function askUnreadable(rows) {
  const box = find("#unreadable");
  const end = (answer) => el("button", { type: "button", class: answer ? "button" : "button primary", on: { click: () => { box.returnValue = answer; box.close(answer); } } }, answer ? "Finish anyway" : "Look again");
  replace(box, el("h2", { id: "unreadable-title", text: `${showCount(rows.length, "value")} cannot be read` }),
    el("ul", {}, rows.slice(0, 20).map((row) => el("li", {}, el("strong", {}, breakable(row.node)), ": ", showText(standing(row))))),
    el("p", { text: "Gold leaves them out, unless it is made with --unreadable." }),
    el("p", {}, end(""), " ", end("yes")));
  box.returnValue = "";
  box.showModal();
  find("button", box).focus();
  return new Promise((done) => box.addEventListener("close", () => done(box.returnValue === "yes"), { once: true }));
}

const duration = (seconds) => (seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : seconds < 5400 ? `${Math.round(seconds / 60)} minutes` : `${(seconds / 3600).toFixed(1)} hours`);

// What is to be done, and how long it takes by this person's own pace.
function describeWork(form, left) {
  if (form.closed) return "This review is closed.";
  if (!left) return form.states.held ? "Nothing is left to begin. Others are still at work." : "Every document is labeled.";
  const pace = form.seconds ? `About ${duration(form.seconds * left)} at your pace (${duration(form.seconds)} each).` : "Your first one shows how long it takes.";
  return `${showCount(left, "document")} to review, ${showCount(form.values, "value")} each at most. Check each field against the page. ${pace}`;
}

async function queueScreen() {
  const form = await ask("GET", "/api/form");
  const of = (state) => form.states[state] || 0;
  const total = Object.values(form.states).reduce((sum, one) => sum + one, 0);
  const done = of("done") + of("adjudicated");
  const canLabel = form.person.role !== "observer" && !form.closed;
  const left = of("open") + form.held.length;
  const isDone = total > 0 && done === total;
  const start = el("button", { type: "button", class: "button primary", id: "start", on: { click: () => startNext().catch((error) => tell(error.message)) } }, form.held.length ? "Go on" : "Start");
  replace(find("main"), el("div", { class: "wrap" },
    el("h1", {}, isDone ? "Done" : breakable(form.name || "Review")),
    el("p", { id: "told", class: "told", role: "alert" }),
    el("p", { class: "lead" }, isDone ? [breakable(form.name || "Review"), ": "] : null, describeWork(form, left)),
    isDone && form.skipped ? el("p", { text: `${showCount(form.skipped, "value was", "values were")} skipped: gold names them as not reviewed.` }) : null,
    isDone && form.promote ? [el("p", { text: "This command makes gold of it:" }), el("pre", { class: "command", tabindex: "0", text: form.promote })] : null,
    el("progress", { max: total || 1, value: done, "aria-label": "Sheets done" }),
    el("p", { class: "small", text: `${showCount(done, "sheet")} of ${total.toLocaleString("en-US")} done.` }),
    canLabel && left ? el("p", {}, start) : null,
    el("p", {}, mayRule(form.person.role) ? [el("a", { href: "/adjudicate", text: "Adjudicate" }), " · "] : null, mayWatch(form.person.role) ? [el("a", { href: "/progress", text: "Progress" }), " · "] : null, el("a", { href: "/help", text: "Help" }), " · ", el("button", { type: "button", class: "link", on: { click: signOut } }, "Sign out"))));
  find("#start")?.focus();
}

const lastNumber = () => Number(window.location.pathname.split("/").pop());
const mayRule = (role) => ["adjudicator", "lead", "alone"].includes(role);
const mayWatch = (role) => ["observer", "lead", "alone"].includes(role);

async function signOut() {
  await ask("POST", "/sign-out", {});
  window.location.assign("/sign-in");
}

async function signInScreen() {
  const name = el("input", { id: "name", type: "text", autocomplete: "username", required: true });
  const password = el("input", { id: "password", type: "password", autocomplete: "current-password", required: true });
  const form = el("form", { class: "sign-in" }, el("h1", { text: "Review" }), el("p", { id: "told", class: "told", role: "alert" }),
    el("label", { for: "name", text: "Name" }), name, el("label", { for: "password", text: "Password" }), password,
    el("button", { class: "button primary", text: "Sign in" }),
    el("p", { class: "small", text: "Alone? Run the command again: its link signs in, once." }));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await ask("POST", "/sign-in", { name: name.value, password: password.value }).then(() => window.location.assign("/"), (error) => tell(error.message));
  });
  replace(find("main"), el("div", { class: "wrap" }, form));
  name.focus();
}

async function helpScreen() {
  const form = await ask("GET", "/api/form");
  replace(find("main"), el("div", { class: "wrap" }, el("h1", { text: "Help" }),
    el("p", { class: "lead", text: "Type what the document says, as it is written there. A value that is filled in may be wrong: look at the page each time." }),
    el("h2", { text: "Keys" }), keysTable(),
    el("h2", { text: "What to say" }),
    el("ul", {}, el("li", {}, el("strong", { text: "Absent" }), ": the document does not have it."), el("li", {}, el("strong", { text: "Illegible" }), ": it is there, and nobody can read it."), el("li", {}, el("strong", { text: "Skip" }), ": you cannot say; write why.")),
    el("p", { class: "small" }, "In labels files you are ", el("strong", { text: form.person.alias }), "."),
    el("p", {}, el("a", { href: "/", text: "Back" }))));
}

const SCREENS = { queue: queueScreen, adjudicate: adjudicateScreen, ruling: () => ruling.start(lastNumber()), progress: progressScreen, "sign-in": signInScreen, help: helpScreen, sheet: () => desk.start(lastNumber()) };

document.addEventListener("DOMContentLoaded", async () => {
  document.body.prepend(el("main", { id: "main", tabindex: "-1" }));
  try {
    await SCREENS[document.body.dataset.screen]();
    document.body.dataset.ready = "yes";
  } catch (error) {
    replace(find("main"), el("div", { class: "wrap" }, el("h1", { text: "This cannot be shown" }), el("p", { class: "told", role: "alert", text: error.message }), el("p", {}, el("a", { href: "/", text: "Back to the queue" }))));
    document.body.dataset.ready = "no";
  }
});
