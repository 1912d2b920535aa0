import { z } from 'zod'
import { Answer, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { bool, id } from '../../../api/wire.ts'
import { notFound } from '../../../errors.ts'
import { rawDiff } from '../../../git/history/diffs.ts'
import { SANDBOXED } from '../../../lib/net/file-headers.ts'
import { pageOfArray } from '../../../store/pages.ts'
import { CommitEntity, DiffEntity, presentCommit, presentDiff } from '../../repository/commits/entity.ts'
import { diffLooks } from '../../repository/commits/looks.ts'
import { markDiffs } from '../../repository/commits/marked-diffs.ts'
import { presentationOf } from '../../repository/commits/queries.ts'
import { presentOneMergeRequest } from '../merge-requests/load.ts'
import { mergeRequest } from '../merge-requests/queries.ts'
import { compareVersions } from './comparison.ts'
import {
  ChangesEntity,
  VersionComparisonEntity,
  VersionDetailEntity,
  VersionEntity,
  presentComparison,
  presentVersion,
  presentVersionDetail,
} from './entity.ts'
import { rangeOf } from './measure.ts'
import { WHOLE_FILES, allCommits, changesOf, findVersion, listVersions, pageOfCommits, version } from './queries.ts'

const ITEM = '/projects/:id/merge_requests/:merge_request_iid'
const reading = { method: 'GET', allow: 'readCode', limiter: 'git' } as const
/** With the `---` and `+++` lines; otherwise only the hunks. */
const unidiff = bool.nullish()

const spacesIn = ({ ignore_whitespace: ignores }: { ignore_whitespace?: boolean | null | undefined }) => ({
  ignoreSpaces: ignores ?? false,
})

export const commits = endpoint({
  ...reading,
  path: `${ITEM}/commits`,
  summary: 'List the commits of a merge request',
  on: mergeRequest,
  output: pageOf(CommitEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await pageOfCommits(subject.dir, subject.mergeRequest, page)
    const presentation = presentationOf(app, subject)
    return { total, items: items.map((commit) => presentCommit(commit, presentation)) }
  },
})

export const changes = endpoint({
  ...reading,
  path: `${ITEM}/changes`,
  summary: 'Get a merge request with its changes',
  on: mergeRequest,
  input: z.object({ access_raw_diffs: bool.nullish(), unidiff }),
  output: ChangesEntity,
  async handle({ app, viewer, subject, input }) {
    const limits = input.access_raw_diffs ? { limits: WHOLE_FILES } : {}
    const { files, overflow } = await changesOf(subject.dir, subject.mergeRequest, limits)
    const record = await presentOneMergeRequest(app, viewer, subject)
    return { ...record, changes: files.map((file) => presentDiff(file, { unidiff: input.unidiff ?? true })), overflow }
  },
})

export const diffs = endpoint({
  ...reading,
  path: `${ITEM}/diffs`,
  summary: 'List the changed files of a merge request',
  on: mergeRequest,
  input: z.object({ unidiff, ...diffLooks }),
  output: pageOf(DiffEntity),
  async handle({ app, subject, input, page }) {
    const { files } = await changesOf(subject.dir, subject.mergeRequest, spacesIn(input))
    const { items, total } = pageOfArray(files, page)
    // This endpoint is newer than the change to diffs that start at the hunks.
    const shown = items.map((file) => presentDiff(file, { unidiff: input.unidiff ?? false }))
    return { total, items: input.render_html ? await markDiffs(app, shown) : shown }
  },
})

export const rawDiffs = endpoint({
  ...reading,
  limiter: 'download',
  path: `${ITEM}/raw_diffs`,
  summary: 'Get the changes of a merge request as one patch',
  on: mergeRequest,
  output: z.string(),
  async handle({ subject }) {
    const range = rangeOf(subject.mergeRequest)
    const body = range ? rawDiff(subject.dir, range.base, range.head) : Buffer.alloc(0)
    return new Answer(200, body, { 'Content-Type': 'text/plain', 'Content-Disposition': 'inline', ...SANDBOXED })
  },
})

export const versions = endpoint({
  ...reading,
  path: `${ITEM}/versions`,
  summary: 'List the versions of a merge request',
  on: mergeRequest,
  output: pageOf(VersionEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await listVersions(app.db, subject.mergeRequest.id, page)
    return { total, items: items.map(presentVersion) }
  },
})

export const getVersion = endpoint({
  ...reading,
  path: `${ITEM}/versions/:version_id`,
  summary: 'Get a version of a merge request, with its commits and changes',
  on: version,
  input: z.object({ unidiff, ...diffLooks }),
  output: VersionDetailEntity,
  async handle({ app, subject, input }) {
    const { dir, version } = subject
    const [{ commits }, diff] = await Promise.all([allCommits(dir, version), changesOf(dir, version, spacesIn(input))])
    const shown = presentVersionDetail(
      version,
      { commits, diff },
      { ...presentationOf(app, subject), unidiff: input.unidiff ?? true },
    )
    return input.render_html ? { ...shown, diffs: await markDiffs(app, shown.diffs) } : shown
  },
})

export const compare = endpoint({
  ...reading,
  path: `${ITEM}/versions/compare`,
  summary: 'Compare two versions of a merge request, without changes from a rebase',
  on: mergeRequest,
  input: z.object({ from: id, to: id, unidiff, ...diffLooks }),
  output: VersionComparisonEntity,
  async handle({ app, subject, input }) {
    const { id } = subject.mergeRequest
    const [from, to] = await Promise.all([findVersion(app.db, id, input.from), findVersion(app.db, id, input.to)])
    if (!from || !to) throw notFound()
    const compared = await compareVersions(subject.dir, from, to, spacesIn(input))
    const shown = presentComparison(compared, { ...presentationOf(app, subject), unidiff: input.unidiff ?? true })
    return input.render_html ? { ...shown, diffs: await markDiffs(app, shown.diffs) } : shown
  },
})
