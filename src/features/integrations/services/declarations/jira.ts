import { digestOf } from '../../../../lib/crypto/secrets.ts'
import { closingReferences } from '../../../../lib/text/closing.ts'
import { trackerKeysIn } from '../../../../lib/text/tracker-keys.ts'
import type { App } from '../../../../context.ts'
import type { OutgoingAnswer, OutgoingRequest } from '../../../../outbound/client.ts'
import { ask } from '../asking.ts'
import { choice, flag, line, required, secret, service, url } from '../declare.ts'
import { basic, below, postJson } from '../requests.ts'
import { actorOf, cut, nameOfRef, textOf, titleOfCommit, type ServicePayload } from '../payload.ts'

/** A reference to a Jira issue, and its source. */
export interface Mention {
  readonly key: string
  readonly isClosing: boolean
  readonly url: string
  readonly title: string
  readonly comment: string
}

const MOST_MENTIONS = 20
const LONGEST_COMMENT = 30_000

/** Jira markup: braces start macros, brackets start links, and `[~name]` mentions a user. */
const inJira = (text: string) => text.replace(/[{}[\]|\\]/g, '\\$&').replace(/!(?=\S)/g, '\\!')

function mentionsIn(payload: ServicePayload): Mention[] {
  const found = payload.event === 'merge_request' ? inRequest(payload) : inCommits(payload)
  const prefix = textOf(payload, 'jira_issue_prefix')
  const ours = prefix ? found.filter(({ key }) => key.startsWith(prefix)) : found
  return ours.slice(0, MOST_MENTIONS)
}

const closedBy = (text: string, base: string): Set<string> =>
  new Set(closingReferences(text, base).flatMap((one) => (one.kind === 'external' ? [one.name] : [])))

const keysIn = (text: string): string[] => [
  ...new Set(trackerKeysIn(text, 'jira', MOST_MENTIONS).map(({ key }) => key)),
]

function inCommits({ body, project, instance }: ServicePayload): Mention[] {
  const isOnDefault = nameOfRef(body.ref) === project.default_branch
  return (body.commits ?? []).flatMap((commit) => {
    const message = (commit.message ?? '').slice(0, LONGEST_COMMENT)
    const closed = isOnDefault ? closedBy(message, instance.url) : new Set<string>()
    const by = inJira(commit.author?.name ?? actorOf(body))
    const where = `[a commit|${commit.url}] of [${inJira(project.name_with_namespace)}|${project.web_url}]`
    return keysIn(message).map((key) => ({
      key,
      isClosing: closed.has(key),
      url: commit.url ?? '',
      title: cut(titleOfCommit(commit), 200),
      comment: cut(
        `${by} mentioned this issue in ${where} on branch ${inJira(nameOfRef(body.ref))}:\n{quote}${inJira(titleOfCommit(commit))}{quote}`,
        LONGEST_COMMENT,
      ),
    }))
  })
}

function inRequest({ body, project, instance }: ServicePayload): Mention[] {
  const { title, description, url, iid, action } = body.object_attributes ?? {}
  if (!['open', 'update', 'merge', 'reopen'].includes(action ?? '')) return []
  const text = `${title ?? ''}\n${description ?? ''}`.slice(0, LONGEST_COMMENT)
  const closed = action === 'merge' ? closedBy(text, instance.url) : new Set<string>()
  const where = `[a merge request|${url}] of [${inJira(project.name_with_namespace)}|${project.web_url}]`
  return keysIn(text).map((key) => ({
    key,
    isClosing: closed.has(key),
    url: url ?? '',
    title: cut(`!${iid} ${title ?? ''}`, 200),
    comment: cut(
      `${inJira(actorOf(body))} mentioned this issue in ${where}:\n{quote}${inJira(title ?? '')}{quote}`,
      LONGEST_COMMENT,
    ),
  }))
}

const baseOf = (payload: ServicePayload) => (textOf(payload, 'api_url') ? 'api_url' : 'url')

function headersOf(payload: ServicePayload): Record<string, string> {
  const password = textOf(payload, 'password')
  const isToken = textOf(payload, 'jira_auth_type') === '1'
  const credential = isToken ? { Authorization: `Bearer ${password}` } : basic(textOf(payload, 'username'), password)
  return { Accept: 'application/json', ...credential }
}

/** One Jira issue, with the operations that the settings allow. */
class JiraIssue {
  readonly #app: App
  readonly #payload: ServicePayload
  readonly #key: string
  constructor(app: App, payload: ServicePayload, key: string) {
    this.#app = app
    this.#payload = payload
    this.#key = key
  }

  #send(
    path: string,
    more: Partial<OutgoingRequest> & { query?: Record<string, string> } = {},
  ): Promise<OutgoingAnswer> {
    const { query, ...request } = more
    const address = below(
      this.#payload,
      baseOf(this.#payload),
      `rest/api/2/issue/${encodeURIComponent(this.#key)}${path}`,
      query,
    )
    return ask(this.#app, { ...request, url: address, headers: { ...headersOf(this.#payload), ...request.headers } })
  }

  #post(path: string, body: unknown): Promise<OutgoingAnswer> {
    const { method, headers, body: text } = postJson(this.#payload.instance.url, body)
    return this.#send(path, { method, headers, body: text })
  }

  /** The remote link has an id chosen by this server, so that a repeated delivery adds no second one. */
  async mention({ url, title, comment }: Mention, input: { comments: boolean }): Promise<void> {
    const globalId = `mortise-${digestOf(url)}`
    const known = await this.#send('/remotelink', { query: { globalId } })
    if (known.status === 200) return
    if (input.comments) {
      const answer = await this.#post('/comment', { body: comment })
      if (answer.status === 404) return // the issue does not exist or is not visible to the account
    }
    await this.#post('/remotelink', {
      globalId,
      relationship: 'mentioned on',
      object: {
        url,
        title,
        icon: { title: 'Mortise', url16x16: `${this.#payload.instance.url}/favicon.ico` },
        status: { resolved: false },
      },
    })
  }

  async close(): Promise<void> {
    const ids = textOf(this.#payload, 'jira_issue_transition_id')
      .split(/[\s,;]+/)
      .filter((id) => /^\d{1,10}$/.test(id))
      .slice(0, 10)
    const isAutomatic = this.#payload.settings.jira_issue_transition_automatic === true
    if (ids.length === 0 && !isAutomatic) return
    const found = await this.#send('', { query: { fields: 'resolution' } })
    if (found.status !== 200 || parsed<{ fields?: { resolution?: unknown } }>(found)?.fields?.resolution) return
    for (const id of isAutomatic ? await this.#lastStep() : ids)
      await this.#post('/transitions', { transition: { id } })
  }

  /** The first transition to a status of the category "done". */
  async #lastStep(): Promise<string[]> {
    interface Steps {
      transitions?: { id?: string; to?: { statusCategory?: { key?: string } } }[]
    }
    const { transitions = [] } = parsed<Steps>(await this.#send('/transitions')) ?? {}
    const last = transitions.find(({ to }) => to?.statusCategory?.key === 'done')
    return last?.id ? [String(last.id)] : []
  }
}

function parsed<T>({ body }: OutgoingAnswer): T | null {
  try {
    return JSON.parse(body) as T | null
  } catch {
    return null
  }
}

export const jira = service({
  slug: 'jira',
  title: 'Jira issues',
  fields: {
    url: required(url),
    api_url: url,
    username: line(),
    password: secret,
    jira_auth_type: choice('0', '0', '1'),
    jira_issue_prefix: line(),
    jira_issue_transition_id: line(),
    jira_issue_transition_automatic: flag(),
  },
  events: ['commit', 'merge_request'],
  probe: (payload) => ({ url: below(payload, baseOf(payload), 'rest/api/2/serverInfo'), headers: headersOf(payload) }),
  async deliver(app, payload) {
    for (const mention of mentionsIn(payload)) {
      const issue = new JiraIssue(app, payload, mention.key)
      await issue.mention(mention, { comments: payload.comments })
      if (mention.isClosing) await issue.close()
    }
  },
})
