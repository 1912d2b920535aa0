/** Server-side rendering: finds the page of a URL, makes its calls in process, and renders HTML. */
import { renderToString } from 'preact-render-to-string'
import { ABILITIES, PARAMS, type AbilityKind, type Can } from './abilities.ts'
import { Api, Refused, type Send } from './api.ts'
import { App } from './app.tsx'
import { type Returned, type Surroundings } from './surroundings.ts'
import { Document, type Assets } from './document.tsx'
import { instanceFrame } from './layout/instance.tsx'
import { failurePage } from './failure.tsx'
import { dismissedIn } from './messages.ts'
import { projectOf, text, together, type FormFields, type Page, type Flash, type PageRequest } from './page.ts'
import { movedTo, rawIn } from './moved.ts'
import { locationAt, rawAddress } from './refs.ts'
import { find, loadPage, pageOf, type Match } from './routes.ts'

export interface RenderRequest {
  /** Path and query. */
  readonly address: string
  /** The path, split and decoded. */
  readonly segments: readonly string[]
  readonly isSignedIn: boolean
  readonly isReadOnly: boolean
  /** Comes from more addresses than allowed. */
  readonly isCrowded: boolean
  readonly csrf: string
  /** The URL of this server: `https://forge.example`. */
  readonly url: string
  readonly assets: (file: string) => Assets
  readonly send: Send
  /** Which of these calls the viewer may make. */
  may(
    calls: Readonly<Record<string, string>>,
    params: Readonly<Record<string, string | number>>,
  ): Promise<Record<string, boolean>>
  /** Calls `perform()`, in a thread if there is much data. Null if it takes too long. */
  draw(drawing: Drawing): Promise<string | null>
  /** Cookies of the browser. */
  readonly cookies: string
  /** Passes flash messages from a post to the next page. */
  readonly flash: {
    /** Returns false if the values are too large: then nothing is stored. `to` is the URL of the next page. */
    keep(values: Flash['flash'], to?: string): boolean
    /** The values stored for this page, once. */
    take(): Flash['flash']
  }
  /** The fields of a post. */
  readonly form?: FormFields
}

export type Answer =
  | { readonly status: number; readonly html: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly location: string }

const apiOf = ({ send, may }: RenderRequest): Api =>
  new Api(send, async (kind, params) => (await may(ABILITIES[kind], params)) as Can<typeof kind>)

const PATCH = /^\d+\.(?:diff|patch)$/

/** Null if there is no page for the viewer. */
export async function respond(renderRequest: RenderRequest): Promise<Answer | null> {
  if (renderRequest.segments[0] === '-' && renderRequest.segments[1] === 'abilities') return abilitiesFor(renderRequest)
  const api = apiOf(renderRequest)
  // A patch is not a page, whatever its number refers to.
  const match = PATCH.test(renderRequest.segments.at(-1) ?? '') ? null : await matchOf(renderRequest, api)
  if (!match) return renderRequest.form ? null : elsewhere(renderRequest, api)
  const page = await loadPage(match.file)
  if (page.signedIn && !renderRequest.isSignedIn) return { location: signInAddress(renderRequest.address) }
  if (renderRequest.form) return act(renderRequest, api, page, match, renderRequest.form)
  const location = renderRequest.isSignedIn ? null : await page.leadVisitors?.(api)
  if (location) return { location }
  const answer = await show(renderRequest, api, page, match, { ...NONE, flash: renderRequest.flash.take() })
  // `commit/abc.patch` is also the page of a commit with this name, which is tried first.
  const isMissing = 'status' in answer && answer.status === 404
  return (isMissing && (await elsewhere(renderRequest, api))) || answer
}

/** `/-/abilities/project?id=1`: for a page that loads its data again in the browser. */
async function abilitiesFor({ segments, address, may }: RenderRequest): Promise<Answer | null> {
  const [, , kind = '', ...rest] = segments
  if (rest.length > 0 || !Object.hasOwn(ABILITIES, kind)) return null
  const query = new URLSearchParams(address.split('?', 2)[1])
  const names: readonly string[] = PARAMS[kind as AbilityKind]
  if (!names.every((name) => query.has(name))) return null
  const params = Object.fromEntries(names.map((name) => [name, query.get(name)!]))
  const html = JSON.stringify(await may(ABILITIES[kind as AbilityKind], params))
  return { status: 200, html, headers: { 'Content-Type': 'application/json' } }
}

/** URLs of older releases, which external links still use. */
async function elsewhere({ segments, address }: RenderRequest, api: Api): Promise<Answer | null> {
  const query = new URLSearchParams(address.split('?', 2)[1])
  const location = movedTo(segments, query) ?? (await rawOf(segments, api))
  return location === null ? null : { location }
}

async function rawOf(segments: readonly string[], api: Api): Promise<string | null> {
  const raw = rawIn(segments)
  const project = raw && (await api.maybe('/projects/{id}', { id: raw.id }))
  if (!project) return null
  const location = await locationAt(api, raw.id, raw.rest).catch((error: unknown) => {
    if (error instanceof Refused) return null
    throw error
  })
  return location && rawAddress(project, location.ref, location.path)
}

const signInAddress = (address: string) => `/users/sign_in?return_to=${encodeURIComponent(address)}`

async function matchOf({ segments }: RenderRequest, api: Api): Promise<Match | null> {
  const found = find(segments)
  if (!found) return null
  return 'page' in found ? found.page : ownerOf(found.path, api)
}

/** The owner of this path: a project, a group or a user. */
async function ownerOf(path: string, api: Api): Promise<Match | null> {
  const [project, group, users] = await Promise.all([
    path.includes('/') ? api.maybe('/projects/{id}', { id: path }) : null,
    api.maybe('/groups/{id}', { id: path, with_projects: false }),
    path.includes('/') ? null : api.maybe('/users', { username: path }),
  ])
  if (project) return pageOf('project', [], project.path_with_namespace)
  if (group) return pageOf('group', [], group.full_path)
  return users?.[0] ? pageOf('user', [], users[0].username) : null
}

/** The result of a post, for the page that answers or follows it. */
interface Outcome {
  readonly returned: Returned | null
  readonly flash: Surroundings['flash']
}

/** What surrounds a page. */
interface Around extends Outcome {
  readonly messages: Surroundings['messages']
}

const NONE: Outcome = { returned: null, flash: {} }

async function show(
  renderRequest: RenderRequest,
  api: Api,
  page: Page,
  match: Match,
  outcome: Outcome,
): Promise<Answer> {
  const me = renderRequest.isSignedIn ? await api.maybe('/user', {}) : null
  const [, query = ''] = renderRequest.address.split('?', 2)
  const request: PageRequest = {
    params: match.params,
    query: new URLSearchParams(query),
    address: renderRequest.address,
    api,
    me,
  }
  const frame = page.frame ?? instanceFrame
  try {
    const own = async () => together(await page.load(request))
    // All are awaited from the start, so that no rejection is unhandled, whichever comes first.
    const [around, loaded, messages] = await Promise.all([
      together(frame.load(request)),
      own(),
      messagesOf(renderRequest, api),
    ])
    const data = { ...around, ...loaded }
    const html = await renderRequest.draw(drawingOf(renderRequest, match, request, data, { ...outcome, messages }))
    if (html === null) return { ...(await fail(renderRequest, request, 503)), headers: { 'Retry-After': '10' } }
    return { status: outcome.returned?.fault === undefined ? 200 : 422, html }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    if (error.status === 401 && !me) return { location: signInAddress(renderRequest.address) }
    const wait = error.headers['retry-after']
    const answer = await fail(renderRequest, request, error.status)
    return wait ? { ...answer, headers: { 'Retry-After': wait } } : answer
  }
}

/** The page of an error; a hidden record looks like a missing one. */
async function fail(
  renderRequest: RenderRequest,
  request: PageRequest,
  status: number,
): Promise<{ status: number; html: string }> {
  const [around, messages] = await Promise.all([
    together(instanceFrame.load(request)),
    messagesOf(renderRequest, request.api),
  ])
  const drawing = drawingOf(renderRequest, { file: '', params: {} }, request, around, { ...NONE, messages })
  return { status, html: await perform({ ...drawing, failure: { status, isCrowded: renderRequest.isCrowded } }) }
}

/** Broadcast messages, except the ones that the browser dismissed. */
async function messagesOf({ cookies }: RenderRequest, api: Api): Promise<Surroundings['messages']> {
  const dismissed = dismissedIn(cookies)
  const active = (await api.maybe('/broadcast_messages', { active: true, per_page: 10 })) ?? []
  return active.filter(({ id, dismissable }) => !dismissable || !dismissed.has(id))
}

/** The answer if there is no page at all. */
export async function respondMissing(renderRequest: RenderRequest, status: number, headers = {}): Promise<Answer> {
  const api = apiOf(renderRequest)
  const me = renderRequest.isSignedIn ? await api.maybe('/user', {}) : null
  const request = { params: {}, query: new URLSearchParams(), address: renderRequest.address, api, me }
  return { ...(await fail(renderRequest, request, status)), headers }
}

/** All inputs of rendering as plain data, so that a page can be rendered in another thread. */
export interface Drawing extends Around {
  /** The file of the page; empty for an error page. */
  readonly file: string
  readonly failure?: { readonly status: number; readonly isCrowded: boolean }
  readonly params: PageRequest['params']
  readonly query: string
  readonly address: string
  readonly me: PageRequest['me']
  readonly csrf: string
  readonly isReadOnly: boolean
  readonly data: object
  readonly url: string
  readonly assets: Assets
}

const drawingOf = (
  renderRequest: RenderRequest,
  { file }: Match,
  request: PageRequest,
  data: object,
  around: Around,
): Drawing => ({
  file,
  params: request.params,
  query: String(request.query),
  address: request.address,
  me: request.me,
  csrf: renderRequest.csrf,
  isReadOnly: renderRequest.isReadOnly,
  ...around,
  data,
  url: renderRequest.url,
  assets: renderRequest.assets(file),
})

/** The whole document. */
export async function perform(drawing: Drawing): Promise<string> {
  const { file, failure, params, address, me, csrf, isReadOnly, returned, flash, messages, data, url, assets } = drawing
  const page = failure ? failurePage(failure.status, failure.isCrowded) : await loadPage(file)
  const frame = page.frame ?? instanceFrame
  const nothing = async () => {}
  const drawn = { params, query: new URLSearchParams(drawing.query), address, me }
  const around = { csrf, isReadOnly, returned, flash, messages }
  const surroundings: Surroundings = { ...drawn, ...around, reload: nothing, act: nothing }
  const body = renderToString(<App page={page} data={data} surroundings={surroundings} />)
  const handed = file && { file, params, address, me, ...around, data }
  const document = (
    <Document
      title={[page.title(data, drawn), frame.title(data)].filter(Boolean).join(' · ')}
      description={page.description?.(data) ?? null}
      feed={page.feed?.(data, drawn) ?? null}
      url={url}
      address={address}
      project={file.startsWith('./pages/project/') ? (params.id ?? null) : null}
      assets={assets}
      body={body}
      data={handed || null}
    />
  )
  return `<!doctype html>${renderToString(document)}`
}

/** Fields whose values are not shown again. */
const SECRET = /password|secret|token|^code$/

async function act(
  renderRequest: RenderRequest,
  api: Api,
  page: Page,
  match: Match,
  form: FormFields,
): Promise<Answer> {
  const name = typeof form._action === 'string' ? form._action : ''
  const action = Object.hasOwn(page.actions ?? {}, name) ? page.actions![name] : undefined
  const [, query = ''] = renderRequest.address.split('?', 2)
  const me = renderRequest.isSignedIn ? await api.maybe('/user', {}) : null
  const request = { params: match.params, query: new URLSearchParams(query), address: renderRequest.address, api, me }
  if (!action) return fail(renderRequest, request, 400)
  const sent = { action: name, values: valuesOf(form) }
  try {
    if (typeof form._preview === 'string') {
      const preview = await previewOf(request, form, form._preview)
      return await show(renderRequest, api, page, match, { ...NONE, returned: { ...sent, preview } })
    }
    const next = await action({ ...request, form })
    if (typeof next === 'string') return { location: next }
    const location = next?.to ?? renderRequest.address
    if (!next || isKept(renderRequest, next) || next.to !== undefined) return { location }
    return await show(renderRequest, api, page, match, { ...NONE, flash: next.flash })
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    if (error.status === 401 && !me) return { location: signInAddress(renderRequest.address) }
    return show(renderRequest, api, page, match, { ...NONE, returned: { ...sent, fault: error.message } })
  }
}

function valuesOf(form: FormFields): Returned['values'] {
  const isText = (value: FormFields[string]) =>
    typeof value === 'string' || (Array.isArray(value) && value.every((one) => typeof one === 'string'))
  const shown = Object.entries(form).filter(([name, value]) => isText(value) && !SECRET.test(name))
  return Object.fromEntries(shown) as Returned['values']
}

/** Without scripts the server renders the preview of a text, and does nothing else. */
async function previewOf(
  request: PageRequest,
  form: FormFields,
  name: string,
): Promise<NonNullable<Returned['preview']>> {
  const project = projectOf(request)
  const input = { text: text(form, name), gfm: true, ...(project !== null && { project }) }
  return { name, html: (await request.api.post('/markdown', input)).html }
}

/**
 * An undo form that is too large is left out. Any other message, such as a new secret, must be in the answer of the
 * post itself.
 */
function isKept({ flash }: RenderRequest, { flash: values, to, changedNothing = false }: Flash): boolean {
  if (changedNothing) return false
  const { undo, ...rest } = values
  return flash.keep(values, to) || (undo !== undefined && flash.keep(rest, to))
}
