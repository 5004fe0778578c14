// What a person does about a run: Stop (which asks first), Go on, Give 10 turns.
import { pathOf, post } from "./api.js";

const TURNS = 10;

// `tell` shows what came of it, `label` names the run for who hears the buttons alone.
export function acts(run, label, tell) {
  const box = make("div", null, "acts");
  const buttons = [];
  const button = (text, act, className) => {
    const node = make("button", text, className);
    node.type = "button";
    node.setAttribute("aria-label", `${text}: ${label}`);
    node.addEventListener("click", () => { if (!box.ariaBusy) act(); });
    return node;
  };
  async function send(verb, body, done) {
    // A button that is disabled loses the focus, and with it the place of whoever uses the keyboard.
    box.ariaBusy = "true";
    try {
      await post(`${pathOf(run.run_id)}/${verb}`, body);
      tell(done);
    } catch (error) {
      tell(`That did not work: ${error.message}`);
    }
    box.ariaBusy = null;
  }
  function confirm(stop) {
    const group = make("span", "Stop it? ", "ask");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", `Stop ${label}?`);
    const back = () => {
      group.replaceWith(stop);
      stop.focus();
    };
    const yes = button("Yes, stop", async () => {
      await send("stop", {}, `${label} is stopped: its next check ends it.`);
      back();
    }, "is-grave");
    group.append(yes, button("No", back));
    group.addEventListener("keydown", (event) => { if (event.key === "Escape") back(); });
    stop.replaceWith(group);
    yes.focus();
  }
  if (run.can_stop !== false) {
    const stop = button("Stop", () => confirm(stop), "is-grave");
    if (run.stop_reason === null) buttons.push(stop);
    const goOn = () => send("acknowledge", undefined, `${label} goes on.`);
    if (run.stop_reason !== null || run.action !== "allow") buttons.push(button("Go on", goOn));
    const extend = () => send("extend", { turns: TURNS }, `${label} has ${TURNS} more turns.`);
    if (run.stop_reason !== null || run.action !== "allow") buttons.push(button(`Give ${TURNS} turns`, extend));
  }
  box.append(...buttons);
  return box;
}
