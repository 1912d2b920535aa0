/** Items: the records that mails are about, with their title, participants and readers. */
import { pageBelow } from '../../../lib/net/page-below.ts'
import { sql } from 'kysely'
import type { App, User } from '../../../context.ts'
import { findCommits, type Commit } from '../../../git/objects/commits.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { ciPolicy } from '../../ci/pipelines/policy.ts'
import type { Pipeline } from '../../ci/pipelines/model.ts'
import { findPipeline } from '../../ci/pipelines/queries.ts'
import type { MergeRequest } from '../../merge-requests/merge-requests/model.ts'
import { mergeRequestKind } from '../../merge-requests/merge-requests/kind.ts'
import { findMergeRequests } from '../../merge-requests/merge-requests/queries.ts'
import { mergeRequestRules } from '../../merge-requests/merge-requests/rules.ts'
import type { Issue } from '../../planning/issues/model.ts'
import { issueKind } from '../../planning/issues/kind.ts'
import type { ItemColumns } from '../../planning/items/kind.ts'
import { participantIds } from '../../planning/items/participants.ts'
import { findIssues } from '../../planning/issues/queries.ts'
import { issueRules } from '../../planning/issues/rules.ts'
import { itemReaders } from '../../planning/items/readers.ts'
import { projectSnippetPolicy } from '../../planning/snippets/policy.ts'
import { subjectsOfUsers } from '../../planning/subjects.ts'
import { codeReadersAmong } from '../../planning/todos/readers.ts'
import { projectPolicy } from '../../projects/projects/policy.ts'
import { findProjectSubject, webUrlOf, type Namespace, type Project } from '../../projects/projects/queries.ts'
import type { Release } from '../../repository/releases/model.ts'
import type { Facts } from './model.ts'

interface HookScope {
  readonly project: Project
  readonly namespace: Namespace
}

export interface Item extends HookScope {
  readonly about:
    | { readonly issue: Issue }
    | { readonly mergeRequest: MergeRequest }
    | { readonly commit: Commit }
    | { readonly snippet: { readonly id: number; readonly title: string } }
    | { readonly pipeline: Pipeline }
    | { readonly release: Release }
    | { readonly project: Project }
  /** `Broken (#1)` */
  readonly title: string
  readonly url: string
  /** The id of the first mail about the item; later mails reply to it. */
  readonly thread: string
  readonly headers: Readonly<Record<string, string>>
  /** The record that users subscribe to. */
  readonly subscription: ItemColumns | null
  participants(app: App): Promise<number[]>
  /** Of these users, those who may read the item. */
  readers(app: App, ids: readonly number[], input: { internal: boolean }): Promise<User[]>
}

type Subject = Awaited<ReturnType<typeof subjectsOfUsers>>[number]

const readersBy =
  (scope: HookScope, reads: (subject: Subject) => boolean): Item['readers'] =>
  async (app, ids) =>
    (await subjectsOfUsers(app, scope, ids)).filter(reads).map(({ viewer }) => viewer)

/**
 * Null if the item no longer exists. An issue or a merge request knows its project; for other items the caller passes
 * the project.
 */
export async function findItem(app: App, facts: Facts, project?: number): Promise<Item | null> {
  const { db } = app
  if (facts.issue !== undefined) {
    const [issue] = await findIssues(db, [facts.issue])
    const scope = issue && (await scopeOf(app, issue.project_id))
    return scope ? issueItem(app, scope, issue) : null
  }
  if (facts.merge_request !== undefined) {
    const [one] = await findMergeRequests(db, [facts.merge_request])
    const scope = one && (await scopeOf(app, one.project_id))
    return scope ? mergeRequestItem(app, scope, one) : null
  }
  const scope = project === undefined ? null : await scopeOf(app, project)
  if (!scope) return null
  if (facts.commit !== undefined) return commitItem(app, scope, facts.commit)
  if (facts.snippet !== undefined) return snippetItem(app, scope, facts.snippet)
  if (facts.pipeline !== undefined) {
    const pipeline = await findPipeline(db, scope.project.id, facts.pipeline)
    return pipeline && pipelineItem(app, scope, pipeline)
  }
  if (facts.release !== undefined) {
    const release = await db.selectFrom('releases').selectAll().where('id', '=', facts.release).executeTakeFirst()
    return release ? releaseItem(app, scope, release) : null
  }
  return projectItem(app, scope)
}

const scopeOf = (app: App, project: number): Promise<HookScope | null> => findProjectSubject(app, String(project), null)

const issueItem = (app: App, scope: HookScope, issue: Issue): Item => ({
  ...scope,
  about: { issue },
  title: `${issue.title} (#${issue.iid})`,
  url: pageBelow(webUrlOf(app, scope), `issues/${issue.iid}`),
  thread: `issue_${issue.id}`,
  headers: {
    'X-GitLab-Issue-ID': String(issue.id),
    'X-GitLab-Issue-IID': String(issue.iid),
    ...(issue.confidential && { 'X-GitLab-ConfidentialIssue': 'true' }),
  },
  subscription: { issue_id: issue.id },
  participants: ({ db }) => participantIds(db, issueKind, issue),
  readers: (app, ids, input) => itemReaders(app, issueRules, scope, ids, issue, input),
})

const mergeRequestItem = (app: App, scope: HookScope, one: MergeRequest): Item => ({
  ...scope,
  about: { mergeRequest: one },
  title: `${one.title} (!${one.iid})`,
  url: pageBelow(webUrlOf(app, scope), `merge_requests/${one.iid}`),
  thread: `merge_request_${one.id}`,
  headers: { 'X-GitLab-MergeRequest-ID': String(one.id), 'X-GitLab-MergeRequest-IID': String(one.iid) },
  subscription: { merge_request_id: one.id },
  participants: ({ db }) => participantIds(db, mergeRequestKind, one),
  readers: (app, ids, input) => itemReaders(app, mergeRequestRules, scope, ids, one, input),
})

async function commitItem(app: App, scope: HookScope, sha: string): Promise<Item | null> {
  const [commit] = await findCommits(repositoryDir(app, scope.project), [sha])
  if (!commit) return null
  return {
    ...scope,
    about: { commit },
    title: `${commit.title} (${sha.slice(0, 8)})`,
    url: pageBelow(webUrlOf(app, scope), `commit/${sha}`),
    thread: `commit_${scope.project.id}_${sha}`,
    headers: { 'X-GitLab-Commit-ID': sha },
    subscription: null,
    async participants({ db }) {
      const email = commit.author.email.toLowerCase()
      const { rows } = await sql<{ user_id: number }>`
        select author_id as user_id from notes
          where project_id = ${scope.project.id} and commit_sha = ${sha} and not system and author_id is not null
        union select user_id from text_mentions where source_project_id = ${scope.project.id} and source_sha = ${sha}
        union select id from users where email = ${email} and confirmed_at is not null
        union select user_id from emails where email = ${email} and confirmed_at is not null`.execute(db)
      return rows.map(({ user_id }) => user_id)
    },
    readers: (app, ids) => codeReadersAmong(app, scope.project, ids),
  }
}

async function snippetItem(app: App, scope: HookScope, id: number): Promise<Item | null> {
  const snippet = await app.db.selectFrom('snippets').selectAll().where('id', '=', id).executeTakeFirst()
  if (!snippet) return null
  return {
    ...scope,
    about: { snippet },
    title: `${snippet.title} ($${id})`,
    url: pageBelow(webUrlOf(app, scope), `snippets/${id}`),
    thread: `snippet_${id}`,
    headers: { 'X-GitLab-Snippet-ID': String(id) },
    subscription: null,
    async participants({ db }) {
      const { rows } = await sql<{ user_id: number }>`
        select author_id as user_id from notes where snippet_id = ${id} and not system and author_id is not null
        union select user_id from text_mentions where source_snippet_id = ${id}
        union select author_id from snippets where id = ${id} and author_id is not null`.execute(db)
      return rows.map(({ user_id }) => user_id)
    },
    readers: readersBy(
      scope,
      (subject) => projectPolicy.read(subject) && projectSnippetPolicy.read({ ...subject, snippet }),
    ),
  }
}

const pipelineItem = (app: App, scope: HookScope, pipeline: Pipeline): Item => ({
  ...scope,
  about: { pipeline },
  title: `pipeline for ${pipeline.ref} | ${pipeline.sha.slice(0, 8)}`,
  url: pageBelow(webUrlOf(app, scope), `pipelines/${pipeline.id}`),
  thread: `pipeline_${pipeline.id}`,
  headers: {
    'X-GitLab-Pipeline-Id': String(pipeline.id),
    'X-GitLab-Pipeline-Ref': pipeline.ref,
    'X-GitLab-Pipeline-Status': pipeline.status,
  },
  subscription: null,
  participants: async () => (pipeline.user_id === null ? [] : [pipeline.user_id]),
  readers: readersBy(scope, (subject) => {
    const seen = { ...subject, dir: '' }
    return ciPolicy.read(seen) && ciPolicy.readPipelines(seen)
  }),
})

const releaseItem = (app: App, scope: HookScope, release: Release): Item => ({
  ...scope,
  about: { release },
  title: `New release: ${release.name ?? release.tag}`,
  url: pageBelow(webUrlOf(app, scope), `releases/${encodeURIComponent(release.tag)}`),
  thread: `release_${release.id}`,
  headers: { 'X-GitLab-Release-Tag': release.tag },
  subscription: null,
  participants: async () => [],
  readers: (app, ids) => codeReadersAmong(app, scope.project, ids),
})

const projectItem = (app: App, scope: HookScope): Item => ({
  ...scope,
  about: { project: scope.project },
  title: 'Project was moved',
  url: webUrlOf(app, scope),
  thread: `project_${scope.project.id}`,
  headers: {},
  subscription: null,
  participants: async () => [],
  readers: readersBy(scope, projectPolicy.read),
})
