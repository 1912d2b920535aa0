/** The commit graph: commits, branches and merges. */
import type { Listed, Records } from '../../../api.ts'
import { Icon } from '../../../components/Icon.tsx'
import { RefPicker, loadRefs, type Refs } from '../../../components/RefPicker.tsx'
import { Time } from '../../../components/Time.tsx'
import { Empty, Pages } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject, type Project } from '../../../layout/project.tsx'
import { layOut, type Line } from './network.ts'
import { page as declare } from '../../../page.ts'
import { withQuery } from '../../../query.ts'
import { locationAddress } from '../../../refs.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/repository.ts'
import './[...ref].css'

type Commit = Records['ListedCommit']

interface Data {
  commits: Listed<Commit[]>
  refs: Refs
}

/** The height of a row in the list next to it. */
const ROW = 32
const COLUMN = 14
/** Commits that find no other column share the last. */
const MOST_COLUMNS = 24
const COLOURS = ['#3d7bd9', '#d98b1f', '#2e9e6b', '#b0559c', '#c0493f', '#6d6fd0', '#7f8795']

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params, query }) => ({
    commits: api.list('/projects/{id}/repository/commits', {
      id: params.id!,
      ref_name: params.ref!,
      ...(query.has('all') && { all: true }),
      order: 'topo',
      page: Number(query.get('page')) || 1,
      per_page: 100,
    }),
    refs: loadRefs(api, params.id!),
  }),
  title: (_data, { params }) => t.graphAtRef(params.ref),
  View: ({ project, commits, refs, params, query, address }) => {
    const ref = params.ref!
    return (
      <>
        <div class="code-head">
          <RefPicker project={project} refs={refs} current={ref} kind="network" />
          <h1 class="crumbs">{t.graph}</h1>
          <div class="row">
            <a class="button" href={withQuery(address, { all: query.has('all') ? null : '1' })}>
              {query.has('all') ? t.onlyThisBranch : common.allBranches}
            </a>
            <a class="button" href={locationAddress(project, 'commits', ref)}>
              {t.viewAsList}
            </a>
          </div>
        </div>
        {commits.items.length === 0 ? (
          <Empty title={common.noCommits} />
        ) : (
          <Drawing project={project} commits={commits.items} refs={refs} />
        )}
        <Pages of={commits} />
      </>
    )
  },
})

const xOf = (column: number) => COLUMN / 2 + 2 + column * COLUMN
const yOf = (row: number) => ROW / 2 + row * ROW
const colourOf = (column: number) => COLOURS[column % COLOURS.length]!

/** A curve into its column within one row, then straight down. */
function pathOf({ from, column, to }: Line): string {
  const [x, y] = [xOf(from.column), yOf(from.row)]
  if (column === from.column) return `M${x} ${y}V${yOf(to)}`
  const [aside, next] = [xOf(column), y + ROW]
  return `M${x} ${y}C${x} ${y + ROW / 2} ${aside} ${y + ROW / 2} ${aside} ${next}V${yOf(to)}`
}

function Drawing({ project, commits, refs }: { project: Project; commits: readonly Commit[]; refs: Refs }) {
  const { dots, lines, columns } = layOut(commits, MOST_COLUMNS)
  const [width, height] = [xOf(columns - 1) + COLUMN / 2 + 2, commits.length * ROW]
  const named = Map.groupBy([...refs.branches, ...refs.tags], ({ commit }) => commit?.id ?? '')
  const address = (id: string) => below(project, `commit/${id}`)
  return (
    <div class="network card" tabIndex={0} role="region" aria-label={common.commits}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        {lines.map((line, n) => (
          <path d={pathOf(line)} fill="none" stroke={colourOf(line.column)} stroke-width="2" key={n} />
        ))}
        {dots.map(({ id, column, row }) => (
          <a href={address(id)} tabIndex={-1} key={id}>
            <circle cx={xOf(column)} cy={yOf(row)} r="5" fill={colourOf(column)} />
          </a>
        ))}
      </svg>
      <ol>
        {commits.map((commit) => (
          <li key={commit.id}>
            {(named.get(commit.id) ?? []).map(({ name }) => (
              <a class="label" href={locationAddress(project, 'tree', name)} key={name}>
                <Icon name="branch" /> {name}
              </a>
            ))}
            <a class="network-title" href={address(commit.id)}>
              {commit.title}
            </a>
            <span class="quiet">
              {commit.author_name}, <Time at={commit.committed_date} />
            </span>
          </li>
        ))}
      </ol>
    </div>
  )
}
