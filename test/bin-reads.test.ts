/** What lies in the bin, by the table of all endpoints: no read shows any of it, and every read is back afterwards. */
import { expect, test } from 'vitest'
import { startForge } from '../src/forge.ts'
import { addressOf, call, inputOf, setStage, type Input, type Stage } from './cases.ts'
import { cases } from './endpoints.ts'

interface Read {
  readonly name: string
  readonly address: string
  readonly input: Input | undefined
}

interface Answer {
  readonly status: number
  readonly text: string
}

/** Logs of what has happened keep the names of that time. */
const LOGS = /\/audit_events|\/hooks\/:hook_id\/events/
/** Answers about the server or the time, whatever the projects are. */
const ABOUT_THE_SERVER = /\/(sidekiq|live$|application\/(storage|settings|web_settings))/
/** What a deletion and time change. */
const CHANGING = /"(updated_at|last_activity_(at|on)|last_used_at|contacted_at|queued_duration)": *("[^"]*"|[\d.]+)/g

async function readsOf(stage: Stage): Promise<Read[]> {
  const found: Read[] = []
  for (const one of cases.filter(({ method }) => method === 'GET'))
    found.push({
      name: one.name,
      address: await addressOf(one, stage, stage.owner),
      input: await inputOf(one, stage),
    })
  return found
}

type Answers = Record<string, Answer>

const CALLERS = ['owner', 'administrator'] as const

async function answersTo({ forge, owner }: Stage, reads: readonly Read[]): Promise<Answers> {
  const callers = { owner, administrator: forge.administrator }
  const found: Answers = {}
  for (const who of CALLERS)
    for (const { name, address, input } of reads) {
      const { status, body } = await call(callers[who], 'GET', address, input)
      const text = typeof body === 'string' ? body : JSON.stringify(body ?? null)
      found[`${who}: ${name}`] = { status, text: text.replace(CHANGING, '') }
    }
  return found
}

const comparable = (answers: Answers) =>
  Object.fromEntries(Object.entries(answers).filter(([name]) => !LOGS.test(name) && !ABOUT_THE_SERVER.test(name)))

/** What the answers tell about the record at `deleted`, and about the project at `path`. */
function shownIn(answers: Answers, reads: readonly Read[], deleted: string, path: string): string[] {
  const isShown = ({ name, address }: Read, { status, text }: Answer) => {
    if (status >= 400) return false
    if (address === deleted || address.startsWith(`${deleted}/`)) return true
    const tells = text.includes(`${path}"`) || text.includes(`${path}/`) || text.includes('deletion_scheduled')
    return tells && !LOGS.test(name)
  }
  return CALLERS.flatMap((who) =>
    reads.flatMap((read) => {
      const key = `${who}: ${read.name}`
      return isShown(read, answers[key]!) ? [key] : []
    }),
  )
}

test('no read shows a project or group in the bin, and all answer as before once it is back', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const stage = await setStage(forge, 'public')
  const reads = await readsOf(stage)
  await forge.settle()
  const { path_with_namespace: path } = (await root.get(`/projects/${stage.project.id}`)).body
  const before = comparable(await answersTo(stage, reads))

  for (const deleted of [`/projects/${stage.project.id}`, `/groups/${stage.group.id}`]) {
    await root.put('/application/settings', { deletion_adjourned_period: 7 })
    expect((await stage.owner.delete(deleted)).status).toBe(204)
    await forge.settle()
    expect(shownIn(await answersTo(stage, reads), reads, deleted, path)).toEqual([])

    expect((await stage.owner.post(`${deleted}/restore`)).status).toBe(201)
    await root.put('/application/settings', { deletion_adjourned_period: 0 })
    await forge.settle()
    expect(comparable(await answersTo(stage, reads))).toEqual(before)
  }
}, 300_000)
