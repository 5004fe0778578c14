// Tells the Ebbtide service on this machine what OpenCode does. `ebbtide hooks uninstall opencode` removes it.
import { spawn } from "node:child_process"
import { readFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"

const flags = "FLAGS"
const state =
  process.env.EBBTIDE_STATE || join(process.env.XDG_STATE_HOME || join(homedir(), ".local", "state"), "ebbtide")
const steps = new Map()
const models = new Map()

async function post(path, body) {
  const { port, token } = JSON.parse(await readFile(join(state, "service.json"), "utf8"))
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-ebbtide-token": token },
    body,
    signal: AbortSignal.timeout(300),
  })
}

async function tell(event) {
  try {
    const answer = await post(`/hooks/opencode?${flags}`, JSON.stringify(event))
    if (!answer.ok) return {}
    return { ...(await answer.json()), ticket: answer.headers.get("x-ebbtide-ticket") }
  } catch {
    try {
      const options = { detached: true, stdio: "ignore" }
      spawn("PYTHON", ["-I", "-S", "CLIENT", "start"], options).on("error", () => {}).unref()
    } catch {}
    return {}
  }
}

export const Ebbtide = async ({ client, directory }) => {
  await tell({ event: "start", session: "none" })
  const act = async (session, answer) => {
    if (answer.end) await client.session.abort({ path: { id: session } }).catch(() => {})
    return answer.note || answer.end
  }
  const show = async (message, variant) => {
    if (message) await client.tui?.showToast({ body: { message, variant } }).catch(() => {})
  }
  return {
    "chat.message": async ({ sessionID, messageID }, { message, parts }) => {
      const prompt = parts.map((part) => (part.type === "text" && !part.synthetic ? part.text : "")).join("\n")
      const base = { event: "prompt", session: sessionID, folder: directory }
      const answer = await tell({ ...base, id: messageID ?? message?.id, prompt })
      await show(answer.message, "info")
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      const batch = steps.get(sessionID)
      const call = { event: "tool", session: sessionID, id: callID, tool, args, output: output.output, batch }
      const answer = await tell(call)
      const note = await act(sessionID, answer)
      await show(answer.message, "warning")
      if (note) output.output = `${output.output}\n${note}`
      // The service gives a note again until it hears that the model gets it.
      if (answer.ticket) await post(`/delivered/${answer.ticket}`, "").catch(() => {})
    },
    event: async ({ event }) => {
      const part = event.properties?.part
      if (event.type === "session.deleted") await tell({ event: "end", session: event.properties.info.id })
      if (event.type === "message.updated" && event.properties.info?.role === "assistant") {
        models.set(event.properties.info.id, event.properties.info.modelID)
      }
      if (event.type !== "message.part.updated" || !part) return
      if (part.type === "step-start") steps.set(part.sessionID, part.id)
      const base = { session: part.sessionID, id: part.type === "tool" ? part.callID : part.id }
      if (part.type === "step-finish") {
        await tell({ ...base, event: "model", model: models.get(part.messageID), tokens: part.tokens, cost: part.cost })
      } else if (part.type === "tool" && part.state.status === "error") {
        const { input, error } = part.state
        const call = { event: "tool", tool: part.tool, args: input, output: error, failed: true }
        await act(part.sessionID, await tell({ ...base, ...call, batch: steps.get(part.sessionID) }))
      }
    },
  }
}
