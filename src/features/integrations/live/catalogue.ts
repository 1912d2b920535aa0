/**
 * Lists the events that live connections receive, their data, and who may see them. Unlisted events are never sent. For
 * a deleted record, nobody can say who could see it: its event goes only to viewers who see all records of its kind.
 */
import { Guest, Master, Reporter } from '../../../lib/levels.ts'
import type { Events, Row } from '../../../store/database.ts'
import { ciPolicy } from '../../ci/pipelines/policy.ts'
import { issuePolicy } from '../../planning/issues/policy.ts'
import { hasMergeRequests, readsMergeRequests } from '../../merge-requests/merge-requests/policy.ts'
import { projectSnippetPolicy } from '../../planning/snippets/policy.ts'
import { hasFeature, projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'
import { branchOf, tagOf } from '../../repository/gate/updates.ts'
import { repositoryPolicy, type RepositorySubject } from '../../repository/repositories/policy.ts'
import type { Facts, Target } from './facts.ts'

type Sees = (subject: ProjectSubject) => boolean

export interface LiveMessage {
  /** Only ids, numbers and names of refs; no other text. */
  readonly data: object
  readonly isSeen: Sees
}

// oxlint-disable-next-line no-explicit-any -- the log does not keep the type of a payload
type Tell = (payload: any, facts: Facts) => LiveMessage | null

/** No policy reads the directory of a repository. */
const inRepository =
  (may: (subject: RepositorySubject) => boolean): Sees =>
  (s) =>
    may({ ...s, dir: '' })
const readsCode = inRepository(repositoryPolicy.download)
const sees =
  (feature: Parameters<typeof hasFeature>[1]): Sees =>
  (s) =>
    hasFeature(s, feature)
const plans: Sees = (s) => hasFeature(s, 'issues') || hasFeature(s, 'merge_requests')

function seesIssue({ issues, assignees }: Facts, id: number): Sees {
  const issue = issues.get(id)
  if (!issue) return (s) => hasFeature(s, 'issues') && s.level >= Reporter
  return (s) => {
    const assigned = s.viewer !== null && (assignees.get(id)?.includes(s.viewer.id) ?? false)
    return issuePolicy.read({ ...s, issue: { ...issue, assigned } })
  }
}

function seesMergeRequest({ mergeRequests, people }: Facts, id: number): Sees {
  const author = mergeRequests.get(id)?.author_id
  return (s) => {
    if (readsMergeRequests(s)) return true
    const isTheirs = s.viewer !== null && (author === s.viewer.id || people.has(`${id} ${s.viewer.id}`))
    return isTheirs && hasMergeRequests(s)
  }
}

function seesSnippet({ snippets }: Facts, id: number): Sees {
  const snippet = snippets.get(id)
  return (s) => (snippet ? projectSnippetPolicy.read({ ...s, snippet }) : hasFeature(s, 'snippets') && s.level >= Guest)
}

function seesTarget(facts: Facts, target: Target): Sees {
  if (target.note_id) return seesNote(facts, target.note_id)
  if (target.issue_id) return seesIssue(facts, target.issue_id)
  if (target.merge_request_id) return seesMergeRequest(facts, target.merge_request_id)
  return target.snippet_id ? seesSnippet(facts, target.snippet_id) : readsCode
}

function seesNote(facts: Facts, id: number): Sees {
  const note = facts.notes.get(id)
  if (!note) return (s) => s.level >= Reporter
  const isNamingOthers = note.about_issue_id !== null || note.about_project_id !== null
  const seesIt = seesTarget(facts, { ...note, note_id: null })
  return (s) => !isNamingOthers && (!note.internal || s.level >= Reporter) && seesIt(s)
}

const targetOf = (
  { issues, mergeRequests, notes }: Facts,
  { note_id, issue_id, merge_request_id, snippet_id }: Target,
) => {
  const note: Target = (note_id ? notes.get(note_id) : undefined) ?? {}
  const [issue, request, snippet] = [
    issue_id ?? note.issue_id,
    merge_request_id ?? note.merge_request_id,
    snippet_id ?? note.snippet_id,
  ]
  const iid = issues.get(issue ?? 0)?.iid ?? mergeRequests.get(request ?? 0)?.iid
  return {
    ...(issue && { issue_id: issue }),
    ...(request && { merge_request_id: request }),
    ...(snippet && { snippet_id: snippet }),
    ...(note_id && { note_id }),
    ...(iid !== undefined && { iid }),
  }
}

const issue: Tell = ({ id, iid }, facts) => ({
  data: { id, iid: facts.issues.get(id)?.iid ?? iid },
  isSeen: seesIssue(facts, id),
})
const mergeRequest: Tell = ({ id, iid }, facts) => ({
  data: { id, iid: facts.mergeRequests.get(id)?.iid ?? iid },
  isSeen: seesMergeRequest(facts, id),
})
const note: Tell = ({ id }, facts) => {
  const row = facts.notes.get(id)
  const sha = row?.commit_sha
  return {
    data: { id, ...targetOf(facts, { ...row, note_id: null }), ...(sha && { sha }) },
    isSeen: seesNote(facts, id),
  }
}
const award: Tell = (payload, facts) => {
  const row: Row<'award_emoji'> | undefined = facts.awards.get(payload.id)
  const target: Target = row ?? payload
  const { issue_id, merge_request_id, note_id, snippet_id } = target
  const isKnown = [issue_id, merge_request_id, note_id, snippet_id].some((one) => one)
  if (!isKnown) return null
  return { data: { id: payload.id, ...targetOf(facts, target) }, isSeen: seesTarget(facts, target) }
}
const snippet: Tell = ({ id }, facts) => ({ data: { id }, isSeen: seesSnippet(facts, id) })
const planned: Tell = ({ id }) => ({ data: { id }, isSeen: plans })
const release: Tell = ({ id }) => ({ data: { id }, isSeen: readsCode })
const pipeline: Tell = ({ id, sha, status }) => ({
  data: { id, sha, status },
  isSeen: inRepository(ciPolicy.readPipelines),
})
const job: Tell = ({ id, pipeline_id, status }) => ({
  data: { id, pipeline_id, status },
  isSeen: inRepository(ciPolicy.readJobs),
})
const member: Tell = ({ user_id }) => ({ data: { user_id }, isSeen: projectPolicy.read })
const request: Tell = ({ user_id }) => ({ data: { user_id }, isSeen: (s) => s.level >= Master })
const project: Tell = () => ({ data: {}, isSeen: projectPolicy.read })

const MOST_REFS = 20

const push: Tell = ({ wiki, updates }: Events['repository.changed']) => {
  if (wiki) return { data: { wiki: true }, isSeen: sees('wiki') }
  const refs = updates.map(({ ref }) => ref).filter((ref) => branchOf(ref) !== null || tagOf(ref) !== null)
  return refs.length === 0 ? null : { data: { refs: refs.slice(0, MOST_REFS) }, isSeen: readsCode }
}

const SENT: { readonly [name in keyof Events]?: Tell } = {
  'repository.changed': push,
  'issue.created': issue,
  'issue.updated': issue,
  'issue.closed': issue,
  'issue.reopened': issue,
  'issue.branched': issue,
  'issue.moved': issue,
  'issue.deleted': issue,
  'issue.restored': issue,
  'merge_request.created': mergeRequest,
  'merge_request.updated': mergeRequest,
  'merge_request.closed': mergeRequest,
  'merge_request.reopened': mergeRequest,
  'merge_request.merged': mergeRequest,
  'merge_request.pushed': mergeRequest,
  'merge_request.approved': mergeRequest,
  'merge_request.unapproved': mergeRequest,
  'merge_request.unmergeable': mergeRequest,
  'merge_request.deleted': mergeRequest,
  'merge_request.restored': mergeRequest,
  'note.created': note,
  'note.updated': note,
  'note.deleted': note,
  'award_emoji.created': award,
  'award_emoji.deleted': award,
  'snippet.created': snippet,
  'snippet.updated': snippet,
  'snippet.deleted': snippet,
  'label.created': planned,
  'label.updated': planned,
  'label.deleted': planned,
  'label.restored': planned,
  'milestone.created': planned,
  'milestone.updated': planned,
  'milestone.closed': planned,
  'milestone.activated': planned,
  'milestone.deleted': planned,
  'milestone.restored': planned,
  'release.created': release,
  'release.updated': release,
  'release.deleted': release,
  'pipeline.changed': pipeline,
  'pipeline.deleted': pipeline,
  'job.changed': job,
  'member.added': member,
  'member.changed': member,
  'member.removed': member,
  'access_request.made': request,
  'access_request.denied': request,
  'project.created': project,
  'project.filled': project,
  'project.updated': project,
  'project.transferred': project,
  'project.shared': project,
  'project.unshared': project,
}

/** The message of an event in a project; null if none is sent. */
export const projectMessage = (name: string, payload: object, facts: Facts): LiveMessage | null =>
  (SENT as Record<string, Tell | undefined>)[name]?.(payload, facts) ?? null

/** Events of a group, for everyone who sees the group. Access requests go only to members who can accept them. */
const SENT_OF_GROUPS = new Set([
  'group.created',
  'group.updated',
  'group.transferred',
  'label.created',
  'label.updated',
  'label.deleted',
  'milestone.created',
  'milestone.updated',
  'milestone.closed',
  'milestone.activated',
  'milestone.deleted',
  'member.added',
  'member.changed',
  'member.removed',
  'access_request.made',
  'access_request.denied',
] satisfies (keyof Events)[])

interface OfGroup {
  readonly id?: number
  readonly user_id?: number
}

export function groupMessage(name: string, { id, user_id }: OfGroup): { data: object; level: number } | null {
  if (!(SENT_OF_GROUPS as ReadonlySet<string>).has(name)) return null
  const data = user_id === undefined ? { id } : { user_id }
  return { data, level: name.startsWith('access_request.') ? Master : Guest }
}

/**
 * After these events a connection may have lost its token or its group, and is checked again. Every event checks the
 * other rights.
 */
const ENDING = /^(token\.revoked|member\.|group\.)/

export const mayEnd = (name: string): boolean => ENDING.test(name)
