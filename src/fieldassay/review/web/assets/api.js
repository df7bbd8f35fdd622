// Requests, and the labels that wait until they are saved: each under its own key, so that it is saved once.
async function ask(method, path, body) {
  const options = { method, headers: {}, credentials: "same-origin" };
  if (body !== undefined) {
    options.headers["content-type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const answer = await fetch(path, options);
  const data = await answer.json();
  if (answer.status === 401) window.location.assign("/sign-in");
  if (!answer.ok) throw Object.assign(new Error(data.problem || "the server refused"), { status: answer.status });
  return data;
}

const WAITING = "fieldassay-waiting";
const readStored = (store, name, otherwise) => {
  try {
    return JSON.parse(store.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
};

const saver = {
  waiting: readStored(localStorage, WAITING, []),
  isBusy: false,
  delay: 500,
  onSaved: () => {},
  onRefused: () => {},
  seqOf: () => 0,

  add(sheet, body) {
    this.waiting.push({ sheet, body: { ...body, key: crypto.randomUUID() } });
    this.keep();
    this.send();
  },
  keep() {
    localStorage.setItem(WAITING, JSON.stringify(this.waiting));
    tellSaving(this.waiting.length, this.delay > 500);
  },
  async send() {
    if (this.isBusy || !this.waiting.length) return;
    this.isBusy = true;
    const first = this.waiting[0];
    if (first.body.expects === undefined) first.body.expects = this.seqOf(first.sheet, first.body.node);
    try {
      const saved = await ask("PUT", `/api/sheets/${first.sheet}/labels`, first.body);
      this.waiting.shift();
      this.delay = 500;
      this.onSaved(first, saved);
    } catch (error) {
      if (error.status) {
        this.waiting.shift();
        this.delay = 500;
        this.onRefused(first, error);
      } else {
        this.delay = Math.min(2 * this.delay, 15000);
        setTimeout(() => this.send(), this.delay);
      }
    }
    this.isBusy = false;
    this.keep();
    if (this.waiting.length && this.delay === 500) this.send();
  },
  async settle() {
    while (this.waiting.length) await new Promise((done) => setTimeout(done, 40));
  },
};

function tellSaving(count, isTrying) {
  const bar = find("#saving");
  if (!bar) return;
  bar.classList.toggle("waiting", isTrying);
  bar.textContent = !count ? "saved" : isTrying ? `not saved, trying again: ${showCount(count, "label")}` : "saving…";
}

function tell(text, kind = "bad") {
  const box = find("#told");
  if (!box) return;
  box.textContent = text;
  box.classList.toggle("good", kind === "good");
}
