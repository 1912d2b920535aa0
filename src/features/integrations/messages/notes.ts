import { pageBelow } from '../../../lib/net/page-below.ts'
import type { App } from '../../../context.ts'
import { commitDiff, type FileDiff } from '../../../git/history/diffs.ts'
import type { EventMessage } from '../../../store/outbox.ts'
import { noteableOf } from '../../planning/notes/entity.ts'
import type { Note } from '../../planning/notes/model.ts'
import { findSnippet } from '../../planning/snippets/queries.ts'
import { askGit, commitStub, completeCommits, type RepositoryContext } from './commits.ts'
import { loadHookIssue } from './issues.ts'
import { loadHookMergeRequest } from './merge-requests.ts'
import { source, projectMessage, type Complete } from './message.ts'
import {
  hookProject,
  hookRepository,
  hookText,
  hookUserById,
  findProjectInNamespace,
  rowTime,
  visibilityLevel,
  type ProjectInNamespace,
} from './shared.ts'

const SWITCHES = ['note_events', 'confidential_note_events'] as const

/** The target of a note or a reaction, as messages embed it. */
export interface HookTarget {
  readonly body: object
  readonly url: string
  readonly confidential: boolean
  /** The target contains a commit stub to complete. */
  readonly isOpen: boolean
}

export type TargetColumns = Pick<Note, 'issue_id' | 'merge_request_id' | 'snippet_id'> & {
  readonly commit_sha?: string | null
}

/** Null if the target no longer exists. */
export async function loadHookTarget(
  app: App,
  at: ProjectInNamespace,
  columns: TargetColumns,
): Promise<HookTarget | null> {
  const { issue_id, merge_request_id, snippet_id, commit_sha = null } = columns
  if (issue_id !== null) {
    const issue = await loadHookIssue(app, issue_id)
    if (!issue) return null
    const { attributes: one } = issue
    return { body: { issue: one }, url: one.url, confidential: one.confidential, isOpen: false }
  }
  if (merge_request_id !== null) {
    const loaded = await loadHookMergeRequest(app, merge_request_id)
    if (!loaded) return null
    const { attributes: one } = loaded
    return { body: { merge_request: one }, url: one.url, confidential: false, isOpen: one.last_commit !== null }
  }
  if (snippet_id !== null) {
    const snippet = await hookSnippet(app, at, snippet_id)
    return snippet && { body: { snippet }, url: snippet.url, confidential: false, isOpen: false }
  }
  if (commit_sha === null) return null
  const url = pageBelow(hookProject(app, at).web_url, `commit/${commit_sha}`)
  return { body: { commit: commitStub(commit_sha) }, url, confidential: false, isOpen: true }
}

const LONGEST_CONTENT = 1024 * 1024

async function hookSnippet(app: App, at: ProjectInNamespace, id: number) {
  const snippet = await findSnippet(app.db, id)
  if (!snippet || snippet.project_id === null) return null
  const file = await app.db
    .selectFrom('snippet_files')
    .select(['path', 'content'])
    .where('snippet_id', '=', id)
    .orderBy('id')
    .executeTakeFirst()
  const { web_url } = hookProject(app, at)
  return {
    id,
    title: snippet.title,
    description: hookText(app, snippet.description, web_url),
    content: file?.content.slice(0, LONGEST_CONTENT) ?? '',
    author_id: snippet.author_id,
    project_id: snippet.project_id,
    created_at: rowTime(snippet.created_at),
    updated_at: rowTime(snippet.updated_at),
    file_name: file?.path ?? '',
    type: 'ProjectSnippet',
    visibility_level: visibilityLevel(snippet.visibility),
    url: pageBelow(web_url, `snippets/${id}`),
  }
}

export const noteUrl = (target: HookTarget, note: number): string => `${target.url}#note_${note}`

const positionOf = (json: string | null): object | null => (json === null ? null : (JSON.parse(json) as object))

/** Attachments appear as URLs in the text. `change_position` is always null: a note moves with its line. */
export function noteAttributes(app: App, note: Note, at: ProjectInNamespace, target: HookTarget) {
  return {
    id: note.id,
    note: note.body,
    description: hookText(app, note.body, hookProject(app, at).web_url),
    ...noteableOf(note),
    commit_id: note.commit_sha ?? note.thread_commit_sha,
    author_id: note.author_id,
    created_at: rowTime(note.created_at),
    updated_at: rowTime(note.updated_at),
    updated_by_id: note.updated_by_id,
    project_id: note.project_id,
    attachment: null,
    line_code: note.line_code,
    system: note.system,
    internal: note.internal,
    st_diff: null,
    type: note.type,
    position: positionOf(note.position),
    original_position: positionOf(note.original_position ?? note.position),
    change_position: null,
    discussion_id: note.discussion_id,
    resolved_at: rowTime(note.resolved_at),
    resolved_by_id: note.resolved_by_id,
    resolved_by_push: note.resolved_by_push,
    url: noteUrl(target, note.id),
  }
}

export const findNote = async ({ db }: App, id: number): Promise<Note | null> =>
  (await db.selectFrom('notes').selectAll().where('id', '=', id).executeTakeFirst()) ?? null

async function noteMessages(app: App, event: { id: number; by: number }, action: string): Promise<EventMessage[]> {
  const note = await findNote(app, event.id)
  if (!note || note.system) return []
  const at = await findProjectInNamespace(app, note.project_id)
  const target = at && (await loadHookTarget(app, at, note))
  if (!target) return []
  const confidential = note.internal || target.confidential
  const body = {
    object_kind: 'note',
    event_type: confidential ? 'confidential_note' : 'note',
    user: await hookUserById(app, event.by),
    project_id: note.project_id,
    project: hookProject(app, at),
    repository: hookRepository(app, at),
    object_attributes: { ...noteAttributes(app, note, at, target), action },
    ...target.body,
  }
  return [
    projectMessage({
      kind: 'note',
      switch: confidential ? 'confidential_note_events' : 'note_events',
      project_id: note.project_id,
      body,
      complete: !target.isOpen,
    }),
  ]
}

interface NoteBody {
  readonly object_attributes: {
    readonly commit_id: string | null
    readonly noteable_type: string
    readonly position: { readonly new_path: string | null } | null
  }
}

/** Adds the diff of the file to a note on a line of a commit. */
export const completeNote: Complete = async (app, message) => {
  const body = (await completeCommits(app, message)) as NoteBody
  const { noteable_type, commit_id, position } = body.object_attributes
  if (noteable_type !== 'Commit' || commit_id === null || !position) return body
  const find = async ({ dir }: RepositoryContext) => {
    const diff = await commitDiff(dir, commit_id)
    const file = diff?.files.find(({ newPath }) => newPath === position.new_path)
    return file ? hookDiff(file) : null
  }
  const st_diff = await askGit(app, message.project_id, find, null)
  return { ...body, object_attributes: { ...body.object_attributes, st_diff } }
}

const hookDiff = (file: FileDiff) => ({
  diff: file.patch,
  new_path: file.newPath,
  old_path: file.oldPath,
  a_mode: file.aMode,
  b_mode: file.bMode,
  new_file: file.newFile,
  renamed_file: file.renamedFile,
  deleted_file: file.deletedFile,
})

export const noteSources = [
  source('note.created', SWITCHES, (app, event) => noteMessages(app, event, 'create')),
  source('note.updated', SWITCHES, (app, event) => noteMessages(app, event, 'update')),
]
