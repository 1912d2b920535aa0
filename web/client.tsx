/** Hydrates the page in the browser: the same components, the same calls over HTTP. */
import { hydrate, render } from 'preact'
import type { AbilityKind, AbilityParams, Can } from './abilities.ts'
import { Api, Refused, type Answered } from './api.ts'
import { App } from './app.tsx'
import { type Returned, type Surroundings } from './surroundings.ts'
import { instanceFrame } from './layout/instance.tsx'
import { storeFlash, takeFlash } from './stored-flash.ts'
import { follow } from './live.ts'
import { together, type FormFields, type Me } from './page.ts'
import { queryText } from './query.ts'
import { loadPage } from './routes.ts'
import { listenToKeys } from './keys.ts'

interface Handed {
  file: string
  params: Record<string, string>
  address: string
  me: Me | null
  csrf: string
  isReadOnly: boolean
  returned: Returned | null
  flash: Surroundings['flash']
  messages: Surroundings['messages']
  data: object
}

const handed = JSON.parse(document.getElementById('data')!.textContent) as Handed
const root = document.getElementById('app')!

async function send(method: string, path: string, fields: Record<string, unknown>): Promise<Answered> {
  const isRead = method === 'GET'
  const query = isRead && Object.keys(fields).length > 0 ? `?${queryText(fields)}` : ''
  const hasFile = Object.values(fields).some((value) => value instanceof Blob)
  const answer = await fetch(`/api/v4${path}${query}`, {
    method,
    headers: {
      'X-CSRF-Token': handed.csrf,
      ...(!isRead && !hasFile && { 'Content-Type': 'application/json' }),
    },
    ...(!isRead && { body: hasFile ? multipart(fields) : JSON.stringify(fields) }),
  })
  const isJson = answer.headers.get('content-type')?.startsWith('application/json')
  const body = isJson ? await answer.json() : await answer.text()
  return { status: answer.status, headers: Object.fromEntries(answer.headers), body }
}

async function askAbilities<K extends AbilityKind>(kind: K, params: AbilityParams<K>): Promise<Can<K>> {
  const answer = await fetch(`/-/abilities/${kind}?${queryText(params)}`)
  const body = (await answer.json()) as Can<K>
  if (!answer.ok) throw new Refused({ status: answer.status, headers: {}, body })
  return body
}

function multipart(fields: Record<string, unknown>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields))
    for (const one of [value].flat())
      form.append(Array.isArray(value) ? `${name}[]` : name, one instanceof Blob ? one : String(one))
  return form
}

function fieldsOf(form: FormData): FormFields {
  const fields: Record<string, string | string[] | Blob> = {}
  for (const name of new Set(form.keys())) {
    const values = form.getAll(name)
    if (name.endsWith('[]')) fields[name.slice(0, -2)] = values.map(String)
    else fields[name] = values.at(-1)!
  }
  return fields
}

const page = await loadPage(handed.file)
const api = new Api(send, askAbilities)
const frame = page.frame ?? instanceFrame
const query = new URLSearchParams(handed.address.split('?', 2)[1])
const { params, address, me } = handed
const request = { params, query, address, me, api }

const surroundings: Surroundings = {
  params,
  query,
  address,
  me,
  csrf: handed.csrf,
  isReadOnly: handed.isReadOnly,
  returned: handed.returned,
  flash: handed.flash,
  messages: handed.messages,
  reload: () => redraw({}),
  async act(action, form) {
    const done = await page.actions![action]!({ ...request, form: fieldsOf(form) })
    const next = typeof done === 'string' ? done : done?.to
    if (typeof done === 'object' && (next === undefined || next === address)) return redraw(done.flash)
    if (next === undefined) return redraw({})
    if (typeof done === 'object') storeFlash(next, done.flash)
    if (next.split('#')[0] === location.pathname + location.search) location.hash = next.split('#')[1] ?? ''
    else location.assign(next)
  },
}

async function redraw(values: Surroundings['flash']): Promise<void> {
  const [around, own] = await Promise.all([together(frame.load(request)), together(await page.load(request))])
  const data = { ...around, ...own }
  document.title = `${[page.title(data, request), frame.title(data)].filter(Boolean).join(' · ')} · Mortise`
  render(<App page={page} data={data} surroundings={{ ...surroundings, returned: null, flash: values }} />, root)
}

hydrate(<App page={page} data={handed.data} surroundings={surroundings} />, root)
const flash = takeFlash(address)
if (flash) render(<App page={page} data={handed.data} surroundings={{ ...surroundings, flash }} />, root)
listenToKeys()
// If the tabs do not fit, the current tab may be outside the visible part.
for (const one of document.querySelectorAll<HTMLElement>('nav > [aria-current=page]'))
  one.parentElement!.scrollLeft = one.offsetLeft - one.parentElement!.offsetLeft - one.offsetWidth
document.documentElement.dataset.ready = ''

const source = page.live?.(handed.data, request)
if (source)
  follow(source, () =>
    surroundings.reload().catch((error: unknown) => {
      // If the viewer lost access, the reloaded page says so.
      if (error instanceof Refused) location.reload()
    }),
  )
