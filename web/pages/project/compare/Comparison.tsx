/** A comparison: the commits of one side that the other does not have, and their changes. */
import { Refused, type Api, type Records } from '../../../api.ts'
import { CommitRow } from '../../../components/Commits.tsx'
import { Diff } from '../../../components/Diff.tsx'
import { DiffTools, viewOf } from '../../../components/DiffTools.tsx'
import { cutDiffs } from '../../../components/diff-lines.ts'
import { Icon } from '../../../components/Icon.tsx'
import { Empty, Rows } from '../../../components/lists.tsx'
import { below, type Project } from '../../../layout/project.tsx'
import { queryText, withQuery } from '../../../query.ts'
import { locationAddress } from '../../../refs.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/repository.ts'

const MOST_COMMITS = 50

export interface Compared {
  from: string
  to: string
  commits: Records['Commit'][]
  /** Newest first; if there are many, their number. */
  total: number
  diffs: Records['Diff'][]
  files: number
  isSame: boolean
}

interface Options {
  from: string
  to: string
  straight: boolean
  /** A single file, by its index. */
  only: number
  looks: { render_html: boolean; ignore_whitespace?: boolean }
}

/** Null if one of the two does not exist. */
export async function loadComparison(
  api: Api,
  id: string,
  { from, to, straight, only, looks }: Options,
): Promise<Compared | null> {
  try {
    const found = await api.get('/projects/{id}/repository/compare', { id, from, to, straight, ...looks })
    const diffs = only ? found.diffs.slice(only - 1, only) : cutDiffs(found.diffs)
    return {
      from,
      to,
      commits: found.commits.toReversed().slice(0, MOST_COMMITS),
      total: found.commits.length,
      diffs,
      files: found.diffs.length,
      isSame: found.compare_same_ref,
    }
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null
    throw error
  }
}

interface ComparisonProps {
  project: Project
  of: Compared
  address: string
  query: URLSearchParams
}

export function Comparison({ project, of, address, query }: ComparisonProps) {
  const only = Number(query.get('only')) || 0
  const request = queryText({ merge_request: { source_branch: of.to, target_branch: of.from } })
  if (of.commits.length === 0 && of.diffs.length === 0)
    return (
      <Empty title={of.isSame ? common.noDifferences : t.noCommitsBetween(of.to, of.from)}>
        <p>{t.selectOtherRevisionsOrSwapThem}</p>
      </Empty>
    )
  return (
    <>
      <div class="head">
        <h2>
          {common.commits} <span class="count">{of.total}</span>
        </h2>
        {project.can.createMergeRequest && project.merge_requests_enabled && (
          <a class="button" data-kind="main" href={`${below(project, 'merge_requests/new')}?${request}`}>
            <Icon name="merge-request" /> {t.createMergeRequest}
          </a>
        )}
      </div>
      <Rows label={common.commits}>
        {of.commits.map((commit) => (
          <CommitRow project={project} commit={commit} key={commit.id} />
        ))}
      </Rows>
      {of.total > of.commits.length && (
        <p class="quiet">
          {rich(t.latestCommitsShown(of.commits.length), {
            link: (text) => <a href={locationAddress(project, 'commits', of.to)}>{text}</a>,
          })}
        </p>
      )}
      <DiffTools files={of.diffs} total={of.files} address={address} query={query} />
      <Diff
        files={of.diffs}
        view={viewOf(query)}
        first={only ? only - 1 : 0}
        whole={(_file, position) => ({ page: withQuery(address, { only: position + 1 }) })}
      />
      {only > 0 && <a href={withQuery(address, { only: null })}>{t.allFiles}</a>}
    </>
  )
}
