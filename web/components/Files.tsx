/** The entries of a folder, each with its last commit. */
import { useEffect, useState } from 'preact/hooks'
import type { Api, Records } from '../api.ts'
import { below, type Project } from '../layout/project.tsx'
import { locationAddress } from '../refs.ts'
import { queryText } from '../query.ts'
import { Icon } from './Icon.tsx'
import { Time } from './Time.tsx'
import * as common from '../texts/common.ts'
import * as t from '../texts/repository.ts'
import './Files.css'

type Entry = Records['TreeEntry']
export type LastCommits = Records['TreeCommit'][] | null

interface FolderOptions {
  /** The branch, tag or commit. */
  readonly at: string
  readonly path: string
  readonly page: number
}

export const FILES_PER_PAGE = 100
/** How long a page waits for last commits that are far back in the history; then the browser loads them. */
const PATIENCE_MS = 1500

export async function loadLastCommits(api: Api, id: string, { at, path, page }: FolderOptions): Promise<LastCommits> {
  const commits = api.maybe('/projects/{id}/repository/tree_commits', {
    id,
    ref: at,
    path,
    page,
    per_page: FILES_PER_PAGE,
  })
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), PATIENCE_MS)
  })
  try {
    return await Promise.race([commits, late])
  } finally {
    clearTimeout(timer)
  }
}

interface FilesProps extends FolderOptions {
  project: Project
  entries: readonly Entry[]
  commits: LastCommits
}

export function Files({ project, entries, commits, ...input }: FilesProps) {
  const last = useLastCommits(project, input, commits)
  const parent = input.path.split('/').slice(0, -1).join('/')
  return (
    <ul class="files" aria-label={common.files}>
      {input.path !== '' && (
        <li>
          <Icon name="folder" />
          <a class="file-name" href={locationAddress(project, 'tree', input.at, parent)} aria-label={t.parentFolder}>
            ..
          </a>
        </li>
      )}
      {entries.map((entry) => {
        const commit = last.get(entry.path)
        return (
          <li key={entry.path} data-type={entry.type}>
            <Icon name={entry.type === 'tree' ? 'folder' : entry.type === 'commit' ? 'commit' : 'file'} />
            <span class="file-name">
              {entry.type === 'commit' ? (
                <>
                  {entry.name} <code class="quiet">@ {entry.id.slice(0, 8)}</code>
                </>
              ) : (
                <a href={locationAddress(project, entry.type, input.at, entry.path)}>{entry.name}</a>
              )}
            </span>
            {commit && (
              <>
                <a class="file-commit quiet" href={below(project, `commit/${commit.id}`)}>
                  {commit.title}
                </a>
                <span class="file-time quiet">
                  <Time at={commit.committed_date} />
                </span>
              </>
            )}
          </li>
        )
      })}
    </ul>
  )
}

function useLastCommits(project: Project, { at, path, page }: FolderOptions, given: LastCommits) {
  const [late, setLate] = useState<LastCommits>(null)
  useEffect(() => {
    if (given !== null) return
    const query = queryText({ ref: at, path, page, per_page: FILES_PER_PAGE })
    fetch(`/api/v4/projects/${project.id}/repository/tree_commits?${query}`)
      .then(async (answer) => {
        if (answer.ok) setLate((await answer.json()) as LastCommits)
      })
      .catch(() => {})
  }, [given, project.id, at, path, page])
  return new Map((given ?? late ?? []).map((one) => [one.path, one.commit]))
}
