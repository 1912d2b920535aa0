import { z } from 'zod'
import { Answer, endpoint } from '../../../api/endpoint.ts'
import { pageHeaders, pageInput, pageOf, pageRequest } from '../../../api/pages.ts'
import { API } from '../../../api/router.ts'
import {
  arrayOf,
  blankable,
  bool,
  documentText,
  entity,
  filledLongText,
  filledText,
  longText,
  moment,
  oneOf,
  text,
} from '../../../api/wire.ts'
import { HARD_LIMITS, commitDiff, rawCommit } from '../../../git/history/diffs.ts'
import { countCommits } from '../../../git/history/history.ts'
import { containingRefs } from '../../../git/refs/refs.ts'
import { commitStats } from '../../../git/history/stats.ts'
import { SANDBOXED } from '../../../lib/net/file-headers.ts'
import { pageOfArray } from '../../../store/pages.ts'
import { LARGEST_FILE_BODY } from '../files/actions.ts'
import { commitActions } from '../files/service.ts'
import { repository } from '../repositories/queries.ts'
import {
  CommitDetailEntity,
  CommitEntity,
  DiffEntity,
  ListedCommitEntity,
  presentCommit,
  presentCommitDetail,
  presentDiff,
  presentStats,
} from './entity.ts'
import { diffLooks } from './looks.ts'
import { markDiffs } from './marked-diffs.ts'
import { commit, findHistory, presentationOf } from './queries.ts'
import { pickCommit, undoCommit } from './service.ts'
import { commitPipeline } from './status.ts'

const PATH = '/projects/:id/repository/commits'
const reading = { method: 'GET', allow: 'download', by: 'visitor' } as const

export const list = endpoint({
  ...reading,
  path: PATH,
  summary: 'List the commits of a repository',
  on: repository,
  costly: ({ path, author, order, with_stats }) => Boolean(path || author || order === 'topo' || with_stats),
  input: z.object({
    ref_name: text.nullish(),
    since: blankable(moment),
    until: blankable(moment),
    path: text.nullish(),
    author: text.nullish(),
    all: blankable(bool),
    with_stats: blankable(bool),
    first_parent: blankable(bool),
    order: blankable(oneOf('default', 'topo')),
    trailers: blankable(bool),
  }),
  output: pageOf(ListedCommitEntity),
  async handle({ app, subject, input, page }) {
    const { dir } = subject
    const { items, total } = await findHistory(dir, input, page)
    const ids = input.with_stats ? items.map(({ id }) => id) : []
    const stats = await commitStats(dir, ids)
    const presentation = { ...presentationOf(app, subject), trailers: input.trailers }
    const present = (commit: (typeof items)[number]) => {
      const numbers = stats.get(commit.id)
      return { ...presentCommit(commit, presentation), ...(numbers && { stats: presentStats(numbers) }) }
    }
    return { total, items: items.map(present) }
  },
})

const action = z
  .object({
    action: text,
    file_path: text.nullish(),
    previous_path: text.nullish(),
    content: documentText.nullish(),
    encoding: oneOf('text', 'base64').nullish(),
    last_commit_id: text.nullish(),
    execute_filemode: bool.nullish(),
  })
  .refine(({ action, execute_filemode: may }) => action !== 'chmod' || typeof may === 'boolean', {
    path: ['execute_filemode'],
  })
const MOST_ACTIONS = 5000

export const create = endpoint({
  method: 'POST',
  path: PATH,
  summary: 'Create, update, move and delete files in one commit',
  on: repository,
  allow: 'commit',
  alsoAsks: ['push to the branch'],
  body: LARGEST_FILE_BODY,
  input: z.object({
    branch: filledText,
    commit_message: filledLongText,
    actions: arrayOf(action, MOST_ACTIONS).refine((actions) => actions.length > 0, { params: { empty: true } }),
    start_branch: text.nullish(),
    start_sha: text.nullish(),
    start_project: text.nullish(),
    force: bool.nullish(),
    author_email: text.nullish(),
    author_name: text.nullish(),
    stats: bool.nullish(),
  }),
  output: CommitDetailEntity,
  async handle({ app, viewer, subject, input }) {
    const commit = await commitActions(app, viewer, subject, input)
    const stats = input.stats === false ? undefined : await commitStats(subject.dir, [commit.id])
    return presentCommitDetail(commit, {
      ...presentationOf(app, subject),
      stats: stats?.get(commit.id),
      pipeline: null,
    })
  },
})

export const get = endpoint({
  ...reading,
  path: `${PATH}/:sha`,
  summary: 'Get a commit',
  on: commit,
  input: z.object({ stats: bool.nullish() }),
  output: CommitDetailEntity,
  async handle({ app, subject, input }) {
    const { commit } = subject
    const stats = input.stats === false ? undefined : await commitStats(subject.dir, [commit.id])
    const pipeline = await commitPipeline(app.db, subject.project.id, commit.id)
    return presentCommitDetail(commit, { ...presentationOf(app, subject), stats: stats?.get(commit.id), pipeline })
  },
})

export const patch = endpoint({
  ...reading,
  limiter: 'download',
  path: `${PATH}/:sha/patch`,
  summary: 'Get a commit as a patch for `git am`, or as a diff for `git apply`',
  on: commit,
  input: z.object({ format: oneOf('patch', 'diff').nullish() }),
  output: z.string(),
  async handle({ subject, input }) {
    const body = rawCommit(subject.dir, subject.commit.id, input.format ?? 'patch')
    return new Answer(200, body, { 'Content-Type': 'text/plain', 'Content-Disposition': 'inline', ...SANDBOXED })
  },
})

export const diff = endpoint({
  ...reading,
  path: `${PATH}/:sha/diff`,
  summary: 'Get the diff of a commit against its first parent',
  on: commit,
  costly: true,
  input: z.object({ unidiff: bool.nullish(), ...diffLooks, ...pageInput.shape }),
  output: z.array(DiffEntity),
  async handle({ app, subject, input }) {
    const { id } = subject.commit
    const { page, per_page, ...looks } = input
    const ignoreSpaces = input.ignore_whitespace ?? false
    const { files = [] } = (await commitDiff(subject.dir, id, { limits: HARD_LIMITS, ignoreSpaces })) ?? {}
    const diffs = files.map((file) => presentDiff(file, { unidiff: input.unidiff ?? true }))
    const shown = (part: typeof diffs) => (input.render_html ? markDiffs(app, part) : part)
    // Paginates only on request, because the first version of this endpoint returned everything.
    if (!page && !per_page) return shown(diffs)
    const request = pageRequest(input)
    const address = `${app.url}${API}/projects/${subject.project.id}/repository/commits/${id}/diff`
    const given = Object.entries(looks).filter(([, value]) => value !== undefined && value !== null)
    const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
    const part = await shown(diffs.slice(request.offset, request.offset + request.limit))
    return new Answer(200, part, pageHeaders(request, { total: diffs.length }, address, query))
  },
})

const picking = { branch: filledText, dry_run: bool.nullish() }
const TRIED = { dry_run: 'success' }

export const pick = endpoint({
  method: 'POST',
  path: `${PATH}/:sha/cherry_pick`,
  summary: 'Cherry-pick a commit',
  on: commit,
  allow: 'commit',
  alsoAsks: ['push to the branch'],
  input: z.object({ ...picking, message: longText.nullish() }),
  output: CommitEntity,
  async handle({ app, viewer, subject, input }) {
    const picked = await pickCommit(app, viewer, subject, subject.commit, input)
    return picked ? presentCommit(picked, presentationOf(app, subject)) : new Answer(200, TRIED)
  },
})

export const revert = endpoint({
  method: 'POST',
  path: `${PATH}/:sha/revert`,
  summary: 'Revert a commit',
  on: commit,
  allow: 'commit',
  alsoAsks: ['push to the branch'],
  input: z.object(picking),
  output: CommitEntity,
  async handle({ app, viewer, subject, input }) {
    const undone = await undoCommit(app, viewer, subject, subject.commit, input)
    return undone ? presentCommit(undone, presentationOf(app, subject)) : new Answer(200, TRIED)
  },
})

export const refs = endpoint({
  ...reading,
  path: `${PATH}/:sha/refs`,
  summary: 'List the branches and tags that have a commit',
  on: commit,
  input: z.object({ type: oneOf('branch', 'tag', 'all').nullish() }),
  output: pageOf(entity({ type: z.enum(['branch', 'tag']), name: z.string() })),
  async handle({ subject, input, page }) {
    return pageOfArray(await containingRefs(subject.dir, subject.commit.id, input.type ?? 'all'), page)
  },
})

export const sequence = endpoint({
  ...reading,
  path: `${PATH}/:sha/sequence`,
  summary: 'Count the commits that lead up to a commit, itself included',
  on: commit,
  input: z.object({ first_parent: bool.nullish() }),
  output: entity({ count: z.int() }),
  async handle({ subject, input }) {
    const { id } = subject.commit
    return { count: await countCommits(subject.dir, { from: id, firstParent: input.first_parent ?? false }) }
  },
})
