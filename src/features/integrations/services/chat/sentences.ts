/** The sentences of chat messages, before each receiver's markup is applied. Null: no message. */
import { pageBelow } from '../../../../lib/net/page-below.ts'
import {
  actorOf,
  avatarOf,
  isCreation,
  isDeletion,
  nameOfRef,
  shortSha,
  titleOfCommit,
  type Payload,
  type PayloadCommit,
  type ServicePayload,
} from '../payload.ts'

export interface Link {
  readonly text: string
  readonly url: string
}
/** A text or a link; `strong` is a title on its own. */
export type Piece = string | Link | { readonly strong: string }

/** A text by users, or the commits of a push. */
export interface Details {
  readonly title?: Link
  readonly text?: string
  readonly lines?: readonly (readonly Piece[])[]
}

export interface ChatMessage {
  readonly by: string
  readonly avatar: string | null
  readonly sentence: readonly Piece[]
  readonly details: Details | null
  readonly mood: 'plain' | 'open' | 'good' | 'bad'
  readonly project: Link
}

type Core = Pick<ChatMessage, 'sentence'> & Partial<Pick<ChatMessage, 'details' | 'mood'>>

export function chatMessage(payload: ServicePayload): ChatMessage | null {
  const say = SENTENCES[payload.event as keyof typeof SENTENCES]
  const core = say?.(payload.body, payload, projectOf(payload)) ?? null
  if (!core) return null
  const { body } = payload
  return {
    details: null,
    mood: 'plain',
    ...core,
    by: actorOf(body),
    avatar: avatarOf(body),
    project: projectOf(payload),
  }
}

const projectOf = ({ project }: ServicePayload): Link => ({ text: project.name_with_namespace, url: project.web_url })

type Say = (body: Payload, payload: ServicePayload, project: Link) => Core | null

const SENTENCES = {
  push: pushed,
  tag_push: pushed,
  issue: issueChanged,
  confidential_issue: issueChanged,
  incident: issueChanged,
  merge_request: mergeRequestChanged,
  note: noted,
  confidential_note: noted,
  wiki_page: wikiChanged,
  pipeline: pipelineEnded,
  deployment: deployed,
} satisfies Partial<Record<ServicePayload['event'], Say>>

function pushed(body: Payload, { project: { web_url } }: ServicePayload, project: Link): Core {
  const kind = body.object_kind === 'tag_push' ? 'tag' : 'branch'
  const name = nameOfRef(body.ref)
  const actor = actorOf(body)
  const ref: Link = { text: name, url: pageBelow(web_url, `${kind === 'tag' ? 'tags' : 'commits'}/${encodeURI(name)}`) }
  if (isDeletion(body)) return { sentence: [`${actor} removed ${kind} ${name} from `, project] }
  if (isCreation(body)) return { sentence: [`${actor} pushed new ${kind} `, ref, ' to ', project] }
  const compare: Link = { text: 'Compare changes', url: pageBelow(web_url, `compare/${body.before}...${body.after}`) }
  return {
    sentence: [`${actor} pushed to ${kind} `, ref, ' of ', project, ' (', compare, ')'],
    details: { lines: (body.commits ?? []).map(lineOfCommit) },
  }
}

const lineOfCommit = (commit: PayloadCommit): Piece[] => [
  { text: shortSha(commit.id), url: commit.url ?? '' },
  `: ${titleOfCommit(commit)} - ${commit.author?.name ?? ''}`,
]

const STATES: Readonly<Record<string, string>> = {
  open: 'opened',
  close: 'closed',
  reopen: 'reopened',
  merge: 'merged',
}

/** Edits send no message: there are too many. */
function issueChanged(body: Payload, _payload: ServicePayload, project: Link): Core | null {
  const { action, iid, title, url, description } = body.object_attributes ?? {}
  const state = STATES[action ?? '']
  if (!state) return null
  const kind = body.object_attributes?.type?.toLowerCase() === 'incident' ? 'Incident' : 'Issue'
  const issue: Link = { text: `#${iid} ${title}`, url: url ?? '' }
  const by = `${state} by ${actorOf(body)}`
  if (action !== 'open') return { sentence: ['[', project, `] ${kind} `, issue, ` ${by}`] }
  return {
    sentence: ['[', project, `] ${kind} ${by}`],
    details: { title: issue, text: description ?? '' },
    mood: 'open',
  }
}

const VERDICTS: Readonly<Record<string, string>> = {
  approved: 'approved',
  unapproved: 'unapproved',
  approval: 'added their approval to',
  unapproval: 'removed their approval from',
}

function mergeRequestChanged(body: Payload, _payload: ServicePayload, project: Link): Core | null {
  const { action, iid, title, url } = body.object_attributes ?? {}
  const done = STATES[action ?? ''] ?? VERDICTS[action ?? '']
  if (!done) return null
  const request: Link = { text: `merge request !${iid}`, url: url ?? '' }
  return { sentence: [`${actorOf(body)} ${done} `, request, ' in ', project, ': ', { strong: firstLine(title) }] }
}

const firstLine = (text: string | null | undefined) => (text ?? '').split('\n', 1)[0]!

function noted(body: Payload, _payload: ServicePayload, project: Link): Core {
  const { url, note } = body.object_attributes ?? {}
  const { issue, merge_request, snippet, commit } = body
  const [text, title] = issue
    ? [`issue #${issue.iid}`, issue.title]
    : merge_request
      ? [`merge request !${merge_request.iid}`, merge_request.title]
      : snippet
        ? [`snippet #${snippet.id}`, snippet.title]
        : [`commit ${shortSha(commit?.id)}`, commit && titleOfCommit(commit)]
  const target: Link = { text, url: url ?? '' }
  return {
    sentence: [`${actorOf(body)} commented on `, target, ' in ', project, ': ', { strong: firstLine(title) }],
    details: { text: note ?? '' },
  }
}

const WIKI_VERBS: Readonly<Record<string, string>> = { create: 'created', update: 'edited', delete: 'deleted' }

function wikiChanged(body: Payload, _payload: ServicePayload, project: Link): Core {
  const { action, title, url, content } = body.object_attributes ?? {}
  const page: Link = { text: 'wiki page', url: url ?? '' }
  return {
    sentence: [
      `${actorOf(body)} ${WIKI_VERBS[action ?? ''] ?? 'changed'} `,
      page,
      ' in ',
      project,
      ': ',
      { strong: firstLine(title) },
    ],
    details: { text: content ?? '' },
  }
}

function pipelineEnded(body: Payload, { project: { web_url } }: ServicePayload, project: Link): Core | null {
  const { id, ref, tag, status, detailed_status, duration } = body.object_attributes ?? {}
  if (status !== 'success' && status !== 'failed') return null
  const name = nameOfRef(ref)
  const scope: Link = { text: name, url: pageBelow(web_url, `${tag ? 'tags' : 'commits'}/${encodeURI(name)}`) }
  const warned = /warning/.test(detailed_status ?? '') ? 'passed with warnings' : 'passed'
  const end = `${status === 'success' ? warned : 'failed'} in ${readable(duration ?? 0)}`
  const pipeline: Link = { text: `#${id}`, url: pageBelow(web_url, `pipelines/${id}`) }
  return {
    sentence: [
      project,
      ': Pipeline ',
      pipeline,
      ` of ${tag ? 'tag' : 'branch'} `,
      scope,
      ` by ${body.user ? actorOf(body) : 'API'} ${end}`,
    ],
    mood: status === 'success' ? 'good' : 'bad',
  }
}

const DEPLOYED: Readonly<Record<string, string>> = {
  running: 'Starting deploy to',
  success: 'Deploy succeeded to',
  failed: 'Deploy failed to',
  canceled: 'Deploy canceled to',
}

function deployed(body: Payload, _payload: ServicePayload, project: Link): Core | null {
  const { status, environment, deployable_url, commit_url, short_sha, commit_title } = body
  const start = DEPLOYED[status ?? '']
  if (!start) return null
  const commit: Link = { text: short_sha ?? '', url: commit_url ?? '' }
  const job: Piece = deployable_url ? { text: environment ?? '', url: deployable_url } : (environment ?? '')
  return {
    sentence: [`${start} `, job, ' of ', project, ` by ${actorOf(body)}: `, commit, ` ${commit_title ?? ''}`],
    mood: status === 'success' ? 'good' : status === 'failed' ? 'bad' : 'plain',
  }
}

/** `65` → `01:05`. */
function readable(seconds: number): string {
  const two = (n: number) => String(Math.floor(n)).padStart(2, '0')
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return `${hours > 0 ? `${two(hours)}:` : ''}${two(minutes)}:${two(seconds % 60)}`
}
