/** The changes of a merge request, for review line by line. */
import type { Listed, Records } from '../../../../api.ts'
import type { DiffFile } from '../../../../components/Diff.tsx'
import { hidesSpaces, looksOf, viewOf } from '../../../../components/DiffTools.tsx'
import type { Discussion } from '../../../../components/Discussions.tsx'
import { OF_MERGE_REQUESTS, noteActions } from '../../../../components/note-actions.ts'
import { Empty, Pages, Tabs } from '../../../../components/lists.tsx'
import { below, projectFrame, type InProject } from '../../../../layout/project.tsx'
import { page as declare, type PageRequest } from '../../../../page.ts'
import { queryText, withQuery } from '../../../../query.ts'
import { mergeActions, reviewActions, stateActions } from '../actions.ts'
import { FinishReview } from '../FinishReview.tsx'
import { Head, liveOf, loadOne, requestParams, type InRequest } from '../Head.tsx'
import { commentOnLine, spotOf, type Shas } from '../../../../components/positions.ts'
import { DraftCard, ReviewDiff } from '../ReviewDiff.tsx'
import { rich } from '../../../../rich.ts'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/merge-requests.ts'
import './diffs.css'

interface Data extends InRequest {
  shown: Visible
  threads: Threads
  drafts: Records['DraftNote'][]
  approvals: Records['MergeRequestApprovals']
  versions: Records['MergeRequestVersion'][]
}

interface Visible {
  files: Listed<DiffFile[]>
  /** Index of the first one among all. */
  first: number
  /** Null for the newest version. */
  version: Records['MergeRequestVersion'] | null
  prints: Record<string, string>
}

const PER_PAGE = 20
/** Larger diffs are loaded one by one. */
const LARGE = 30_000

const foldLarge = (file: DiffFile): DiffFile =>
  file.diff.length > LARGE ? { ...file, diff: '', lines_html: null, collapsed: true } : file

/** Enough to detect whether a file changed since it was viewed. */
function printOf({ diff }: DiffFile): string {
  let hash = 0
  for (let n = 0; n < diff.length; n++) hash = (Math.imul(hash, 31) + diff.charCodeAt(n)) | 0
  return `${diff.length}:${hash}`
}

const printsOf = (files: readonly DiffFile[]) => Object.fromEntries(files.map((file) => [file.new_path, printOf(file)]))

const ONE = '/projects/{id}/merge_requests/{merge_request_iid}'

/** Links in notes about pushes use `diff_id`. */
const versionIn = (query: URLSearchParams) => query.get('version') ?? query.get('diff_id')

async function loadShown(request: PageRequest): Promise<Visible> {
  const { api, query } = request
  const alone = Number(query.get('file') ?? Number.NaN)
  const number = Number(query.get('page')) || 1
  const version_id = versionIn(query)
  if (version_id) {
    const found = await api.get(`${ONE}/versions/{version_id}`, {
      ...requestParams(request),
      version_id,
      unidiff: false,
      ...looksOf(query),
    })
    const { diffs, commits: _, ...version } = found
    const first = Number.isNaN(alone) ? (number - 1) * PER_PAGE : alone
    const items = Number.isNaN(alone) ? diffs.slice(first, first + PER_PAGE) : diffs.slice(alone, alone + 1)
    const pages = Math.max(1, Math.ceil(diffs.length / PER_PAGE))
    const files = {
      items: Number.isNaN(alone) ? items.map(foldLarge) : items,
      page: number,
      next: number < pages && Number.isNaN(alone) ? number + 1 : null,
      previous: number > 1 && Number.isNaN(alone) ? number - 1 : null,
      total: diffs.length,
      pages,
    }
    return { files, first, version, prints: printsOf(items) }
  }
  if (!Number.isNaN(alone)) {
    const files = await api.list(`${ONE}/diffs`, {
      ...requestParams(request),
      page: alone + 1,
      per_page: 1,
      ...looksOf(query),
    })
    return {
      files: { ...files, next: null, previous: null },
      first: alone,
      version: null,
      prints: printsOf(files.items),
    }
  }
  const files = await api.list(`${ONE}/diffs`, {
    ...requestParams(request),
    page: number,
    per_page: PER_PAGE,
    ...looksOf(query),
  })
  return {
    files: { ...files, items: files.items.map(foldLarge) },
    first: (number - 1) * PER_PAGE,
    version: null,
    prints: printsOf(files.items),
  }
}

interface Threads {
  items: Discussion[]
  /** The number of threads that were not loaded. */
  left: number
}

const THREADS_PER_PAGE = 100
const MOST_PAGES = 5

/** All threads up to a limit: the first page contains the total. */
async function loadThreads(request: PageRequest): Promise<Threads> {
  const read = (page: number) =>
    request.api.list(`${ONE}/discussions`, {
      ...requestParams(request),
      per_page: THREADS_PER_PAGE,
      page,
      render_html: true,
    })
  const first = await read(1)
  const pages = Math.min(MOST_PAGES, first.pages ?? 1)
  const others = await Promise.all(Array.from({ length: Math.max(0, pages - 1) }, (_, n) => read(n + 2)))
  const items = [first, ...others].flatMap((list) => list.items)
  return { items, left: Math.max(0, (first.total ?? 0) - items.length) }
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  signedIn: true,
  load: (request) => ({
    one: loadOne(request),
    shown: loadShown(request),
    threads: loadThreads(request),
    drafts: request.api
      .maybe(`${ONE}/draft_notes`, { ...requestParams(request), per_page: 100 })
      .then((found) => found ?? []),
    approvals: request.api.get(`${ONE}/approvals`, requestParams(request)),
    versions: request.api.get(`${ONE}/versions`, { ...requestParams(request), per_page: 100 }),
  }),
  title: ({ one }) => t.changesTitle(one.title, one.iid),
  actions: {
    ...stateActions,
    ...mergeActions,
    ...reviewActions,
    ...noteActions(OF_MERGE_REQUESTS),
    lineComment: commentOnLine,
  },
  live: ({ one }) => liveOf(one),
  View: ({ one, project, me, shown, threads, drafts, approvals, versions, query, address }) => {
    const view = viewOf(query)
    const isWithoutSpaces = hidesSpaces(query)
    const shas = shasOf(shown.version, one)
    const api = `/api/v4/projects/${one.project_id}/merge_requests/${one.iid}`
    const { files, first, version } = shown
    return (
      <>
        <Head one={one} project={project} tab="diffs" />
        <div class="review-tools">
          <span>
            {rich(t.filesChanged(files.total), { total: <strong>{files.total ?? one.changes_count}</strong> })}
            {version && ` ${t.inVersion(versionNumber(versions, version.id))}`}
            {query.get('file') && [
              ' ',
              ...rich(t.showingOneFileShowAll, {
                link: (text) => <a href={withQuery(address, { file: null })}>{text}</a>,
              }),
            ]}
          </span>
          <Tabs
            label={common.diffView}
            tabs={(['unified', 'split'] as const).map((name) => ({
              text: name === 'unified' ? common.unified : t.sideBySide,
              href: withQuery(address, { view: name === 'split' ? name : null, page: files.page }),
              isCurrent: name === view,
            }))}
          />
          <span class="row">
            {version && (
              <a href={withQuery(address, { version: null, diff_id: null, start_sha: null })}>{t.showLatestVersion}</a>
            )}
            <Before versions={versions} shown={version} at={`${address.split('/diffs', 1)[0]}/versions`} />
            <a href={withQuery(address, { w: isWithoutSpaces ? null : '1', page: files.page })}>
              {isWithoutSpaces ? common.showWhitespace : common.hideWhitespace}
            </a>
            <a href={`${api}/raw_diffs`}>{common.downloadPatch}</a>
          </span>
        </div>
        {threads.left > 0 && (
          <p class="fault-free">
            {rich(t.showingFirstThreadsSeeMore(threads.items.length, threads.left), {
              link: (text) => <a href={below(project, `merge_requests/${one.iid}?page=${MOST_PAGES + 1}`)}>{text}</a>,
            })}
          </p>
        )}
        {shas === null || files.items.length === 0 ? (
          <Empty title={t.noChanges}>
            <p>{t.pushCommitsToSourceBranchToSee(one.source_branch)}</p>
          </Empty>
        ) : (
          <ReviewDiff
            files={files.items}
            first={first}
            view={view}
            shas={shas}
            discussions={threads.items}
            drafts={drafts}
            me={me}
            mayComment={one.can.comment}
            mayModerate={project.can.administer}
            mayResolve={one.can.resolve}
            mayApply={one.can.update && one.state === 'opened'}
            address={address}
            opened={query.get('comment')}
            prints={shown.prints}
            memory={`${one.project_id} ${one.iid}`}
            whole={(_file, position) => ({
              page: withQuery(address, { file: position }),
              api: `${api}/diffs?page=${position + 1}&per_page=1&${queryText(looksOf(query))}`,
            })}
          />
        )}
        <Pages of={files} />
        {shas !== null && <Elsewhere drafts={drafts} shas={shas} />}
        {one.can.comment && one.state === 'opened' && (
          <FinishReview one={one} drafts={drafts} approvals={approvals} me={me} />
        )}
      </>
    )
  },
})

/** Drafts on other versions, which belong to none of the lines. */
function Elsewhere({ drafts, shas }: { drafts: Data['drafts']; shas: Shas }) {
  const others = drafts.filter((draft) => spotOf(draft, shas) === null)
  if (others.length === 0) return null
  return (
    <section>
      <h2>{t.otherPendingComments}</h2>
      {others.map((draft) => (
        <DraftCard draft={draft} key={draft.id} />
      ))}
    </section>
  )
}

interface BeforeProps {
  versions: readonly Records['MergeRequestVersion'][]
  shown: Visible['version']
  at: string
}

/** Links to the comparison with the previous version, which shows the changes of a push. */
function Before({ versions, shown, at }: BeforeProps) {
  const n = shown ? versions.findIndex(({ id }) => id === shown.id) : 0
  const [to, from] = [versions[n], versions[n + 1]]
  return to && from ? <a href={`${at}?from=${from.id}&to=${to.id}`}>{t.changesSinceLastVersion}</a> : null
}

const versionNumber = (versions: readonly { id: number }[], id: number) =>
  versions.length - versions.findIndex((one) => one.id === id)

/** Null while there is nothing to compare. */
function shasOf(version: Visible['version'], { diff_refs }: InRequest['one']): Shas | null {
  const [base_sha, start_sha, head_sha] = version
    ? [version.base_commit_sha, version.start_commit_sha, version.head_commit_sha]
    : [diff_refs?.base_sha, diff_refs?.start_sha, diff_refs?.head_sha]
  return base_sha && start_sha && head_sha ? { base_sha, start_sha, head_sha } : null
}
