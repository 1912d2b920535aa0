/** The entries of feeds. */
import type { App } from '../../../context.ts'
import type { FeedEntry, FeedText } from '../../../lib/text/atom.ts'
import { renderMarkdown } from '../../../lib/markdown/markdown.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import { encodeSegments } from '../../../lib/text/segments.ts'
import type { EventRecord } from '../../planning/events/entity.ts'
import type { CommitRecord } from '../../repository/commits/entity.ts'

const LONGEST_TEXT = 5000

/**
 * Renders Markdown as HTML. References are resolved for an anonymous viewer: feed readers cache the text and may show
 * it to others.
 */
export async function rendered(
  app: App,
  text: string | null,
  project: string | undefined,
): Promise<FeedText | undefined> {
  if (!text) return undefined
  const linkBases = project === undefined ? {} : { project: `${app.url}/${project}` }
  const around = { base: app.url, caller: app.caller, linkBases }
  return { type: 'html', text: await renderMarkdown(text.slice(0, LONGEST_TEXT), around) }
}

export const plain = (text: string): FeedText => ({ type: 'text', text: text.slice(0, LONGEST_TEXT) })

interface Summary {
  readonly name: string
  readonly web_url: string
  readonly avatar_url: string | null
}

export const byline = (author: Summary | null): Pick<FeedEntry, 'author' | 'picture'> =>
  author ? { author: { name: author.name, uri: author.web_url }, picture: author.avatar_url } : {}

const NOUNS = { Issue: ['issue', '#'], MergeRequest: ['merge request', '!'], Snippet: ['snippet', '$'] } as const

/** The object of the event in words. Empty if the object is the project itself. */
function objectOf({ push_data: push, note, ...event }: EventRecord): string {
  if (push) return `${push.ref_type} ${push.ref} at `
  if (note) {
    if (note.noteable_type === 'Commit') return `commit ${note.commit_id?.slice(0, 8)} at `
    const [noun, mark] = NOUNS[note.noteable_type]
    return `${noun} ${mark}${note.noteable_iid ?? note.noteable_id} at `
  }
  if (event.target_type === 'Issue' || event.target_type === 'MergeRequest') {
    const [noun, mark] = NOUNS[event.target_type]
    return `${noun} ${mark}${event.target_iid}: ${event.target_title} at `
  }
  return event.target_type === 'Milestone' ? `milestone ${event.target_title} at ` : 'project '
}

/** Null: the page of the project. */
function pageOf({ push_data: push, note, ...event }: EventRecord): string | null {
  if (push) return push.commit_to === null ? null : `commits/${encodeSegments(push.ref)}`
  if (note) {
    const anchor = `#note_${note.id}`
    if (note.noteable_type === 'Commit') return `commit/${note.commit_id}${anchor}`
    if (note.noteable_type === 'Snippet') return `snippets/${note.noteable_id}${anchor}`
    return `${note.noteable_type === 'Issue' ? 'issues' : 'merge_requests'}/${note.noteable_iid}${anchor}`
  }
  if (event.target_type === 'Issue') return `issues/${event.target_iid}`
  if (event.target_type === 'MergeRequest') return `merge_requests/${event.target_iid}`
  return event.target_type === 'Milestone' && event.action_name !== 'destroyed'
    ? `milestones/${event.target_iid}`
    : null
}

/** `path` is the path of the project. */
export async function eventEntry(app: App, event: EventRecord, path: string): Promise<FeedEntry> {
  const { note, push_data: push, created_at } = event
  const project = `${app.url}/${path}`
  const page = pageOf(event)
  const words = push ? push.commit_title : event.target_title
  return {
    id: `tag:${new URL(app.url).hostname},${created_at.slice(0, 10)}:${event.id}`,
    title: `${event.author.name} ${event.action_name} ${objectOf(event)}${path}`,
    link: page === null ? project : pageBelow(project, page),
    updated: created_at,
    ...byline(event.author),
    summary: note ? await rendered(app, note.body, path) : words === null ? undefined : plain(words),
  }
}

interface Planned {
  readonly title: string
  readonly description: string | null
  readonly web_url: string
  readonly created_at: string
  readonly updated_at: string
  readonly labels: readonly unknown[]
  readonly author: Summary | null
  readonly references: { readonly full: string }
}

/** An issue or a merge request. */
export const plannedEntry = async (app: App, one: Planned): Promise<FeedEntry> => ({
  id: one.web_url,
  title: one.title,
  link: one.web_url,
  updated: one.updated_at,
  published: one.created_at,
  ...byline(one.author),
  categories: one.labels.map(String),
  summary: plain(one.title),
  content: await rendered(app, one.description, one.references.full.replace(/[#!]\d+$/, '')),
})

export const commitEntry = (commit: CommitRecord): FeedEntry => ({
  id: commit.web_url,
  title: commit.title,
  link: commit.web_url,
  updated: commit.committed_date,
  author: { name: commit.author_name || 'unknown', email: commit.author_email || undefined },
  summary: plain(commit.message),
})
