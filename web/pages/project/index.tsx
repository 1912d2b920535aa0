/** The home page of a project: description, files and clone URLs. */
import type { Records } from '../../api.ts'
import { CloneBox } from '../../components/CloneBox.tsx'
import { LastCommit } from '../../components/Commits.tsx'
import { FILES_PER_PAGE, Files, loadLastCommits, type LastCommits } from '../../components/Files.tsx'
import { ActButton } from '../../components/Form.tsx'
import { Icon, type IconName } from '../../components/Icon.tsx'
import { Languages } from './Languages.tsx'
import { Readme, loadReadme, type ReadmeView } from '../../components/Readme.tsx'
import { RefPicker, loadRefs, type Refs } from '../../components/RefPicker.tsx'
import { Time } from '../../components/Time.tsx'
import { Empty } from '../../components/lists.tsx'
import { below, projectFrame, type InProject, type Project } from '../../layout/project.tsx'
import { page as declare, type PageRequest } from '../../page.ts'
import { encodePath, locationAddress } from '../../refs.ts'
import { rich } from '../../rich.ts'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/projects.ts'
import './index.css'

interface Data {
  entries: Records['TreeEntry'][] | null
  hasMore: boolean
  lastCommits: LastCommits
  commit: Records['Commit'] | null
  counts: { commits: number | null; branches: number | null; tags: number | null }
  readme: ReadmeView | null
  languages: Record<string, number>
  refs: Refs
  release: Records['Release'] | null
  isStarred: boolean
}

/** Null if the count is unknown, or there is nothing. */
async function countOf(answer: Promise<{ total: number | null }>): Promise<number | null> {
  return answer.then(
    ({ total }) => total,
    () => null,
  )
}

async function isStarred({ api, params, me }: PageRequest): Promise<boolean> {
  if (!me) return false
  const search = params.id!.split('/').at(-1)!
  const found = await api.maybe('/projects', { starred: true, simple: true, search, per_page: 100 })
  return (found ?? []).some(({ path_with_namespace }) => path_with_namespace === params.id)
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load(request) {
    const { api, params } = request
    const id = params.id!
    const tree = api.list('/projects/{id}/repository/tree', { id, per_page: FILES_PER_PAGE }).catch(() => null)
    const commits = api.list('/projects/{id}/repository/commits', { id, per_page: 1 }).catch(() => null)
    const counts = async () => ({
      commits: (await commits)?.total ?? null,
      branches: await countOf(api.list('/projects/{id}/repository/branches', { id, per_page: 1 })),
      tags: await countOf(api.list('/projects/{id}/repository/tags', { id, per_page: 1 })),
    })
    return {
      entries: tree.then((list) => list?.items ?? null),
      hasMore: tree.then((list) => (list?.next ?? null) !== null),
      lastCommits: loadLastCommits(api, id, { at: 'HEAD', path: '', page: 1 }),
      commit: commits.then((list) => list?.items[0] ?? null),
      counts: counts(),
      readme: tree.then((list) => loadReadme(api, id, 'HEAD', list?.items ?? [])),
      languages: api.maybe('/projects/{id}/languages', { id }).then((found) => found ?? {}),
      refs: loadRefs(api, id),
      release: api.maybe('/projects/{id}/releases', { id, per_page: 1 }).then((list) => list?.[0] ?? null),
      isStarred: isStarred(request),
    }
  },
  title: () => '',
  description: ({ project }) => project.description,
  actions: {
    async star({ api, params }) {
      await api.post('/projects/{id}/star', { id: params.id! })
    },
    async unstar({ api, params }) {
      await api.post('/projects/{id}/unstar', { id: params.id! })
    },
  },
  live: ({ project }) => ({ path: `/projects/${project.id}/live`, events: ['repository.changed'] }),
  View: ({ project, me, entries, hasMore, lastCommits, commit, counts, readme, languages, refs, release, ...rest }) => {
    const branch = project.default_branch ?? 'main'
    return (
      <>
        <Head project={project} isStarred={rest.isStarred} isSignedIn={me !== null} />
        {/^(scheduled|started|failed)$/.test(project.import_status ?? '') && (
          <p class="card code-notice" role="status">
            {project.import_status === 'failed' ? t.importFailed : t.importInProgress}{' '}
            <a href={below(project, 'import')}>{t.viewImportStatus}</a>
          </p>
        )}
        {entries && entries.length > 0 ? (
          <>
            <Facts project={project} counts={counts} release={release} branch={branch} />
            <Languages of={languages} />
            <div class="code-head">
              <RefPicker project={project} refs={refs} current={branch} kind="tree" />
              <span class="grow" />
              <div class="row">
                <a class="button" data-key="t" title={common.keyT} href={locationAddress(project, 'find_file', branch)}>
                  {common.findFile}
                </a>
                <a class="button" href={below(project, 'compare')}>
                  {common.compare}
                </a>
                {project.can.push && (
                  <a class="button" href={locationAddress(project, 'new', branch)}>
                    <Icon name="plus" /> {common.addFile}
                  </a>
                )}
                <CloneBox project={project} />
              </div>
            </div>
            {commit && (
              <LastCommit project={project} commit={commit} history={locationAddress(project, 'commits', branch)} />
            )}
            <Files project={project} entries={entries} commits={lastCommits} at={branch} path="" page={1} />
            {hasMore && (
              <p class="after-list">
                <a href={`${locationAddress(project, 'tree', branch)}?page=2`}>{t.moreFiles}</a>
              </p>
            )}
          </>
        ) : (
          <Beginning project={project} branch={branch} />
        )}
        {readme && <Readme of={readme} />}
      </>
    )
  },
})

function Head({ project, isStarred, isSignedIn }: { project: Project; isStarred: boolean; isSignedIn: boolean }) {
  const source = project.forked_from_project
  return (
    <div class="project-head">
      <div class="project-words">
        <h1>{project.name}</h1>
        {project.description && <p class="quiet">{project.description}</p>}
        {source && (
          <p class="quiet">
            <Icon name="fork" />{' '}
            {rich(t.forkedFromNameWithNamespace, {
              nameWithNamespace: <a href={`/${source.path_with_namespace}`}>{source.name_with_namespace}</a>,
            })}
          </p>
        )}
        {project.topics?.length > 0 && (
          <p class="row">
            {project.topics.map((topic) => (
              <span class="label" key={topic}>
                {topic}
              </span>
            ))}
          </p>
        )}
      </div>
      <div class="row">
        {isSignedIn ? (
          <ActButton action={isStarred ? 'unstar' : 'star'}>
            <Icon name="star" /> {isStarred ? common.starred : t.star} <span class="count">{project.star_count}</span>
          </ActButton>
        ) : (
          <span class="quiet">
            <Icon name="star" /> {t.starCount(project.star_count)}
          </span>
        )}
        {isSignedIn && (
          <a class="button" href={below(project, 'forks/new')}>
            <Icon name="fork" /> {t.fork}
          </a>
        )}
        <a href={below(project, 'forks')}>{t.forkCount(project.forks_count)}</a>
      </div>
    </div>
  )
}

interface FactsProps {
  project: Project
  counts: Data['counts']
  release: Data['release']
  branch: string
}

function Facts({ project, counts, release, branch }: FactsProps) {
  const fact = (icon: IconName, href: string, count: number | null, one: string, many: string) => (
    <li>
      <a href={href}>
        <Icon name={icon} /> {count === null ? many : `${count} ${count === 1 ? one : many}`}
      </a>
    </li>
  )
  return (
    <ul class="facts" aria-label={t.about}>
      {fact('commit', locationAddress(project, 'commits', branch), counts.commits, 'commit', 'commits')}
      {fact('branch', below(project, 'branches'), counts.branches, 'branch', 'branches')}
      {fact('tag', below(project, 'tags'), counts.tags, 'tag', 'tags')}
      <li>
        <a href={locationAddress(project, 'graphs', branch)}>
          <Icon name="people" /> {t.contributors}
        </a>
      </li>
      <li>
        {release ? (
          <>
            <a href={below(project, `releases/${encodePath(release.tag_name)}`)}>
              <Icon name="download" /> {release.name}
            </a>{' '}
            <span class="quiet">{rich(t.releasedTime, { time: <Time at={release.released_at} /> })}</span>
          </>
        ) : (
          <a href={below(project, 'releases')}>
            <Icon name="download" /> {t.releases}
          </a>
        )}
      </li>
    </ul>
  )
}

/** Instructions for the first push. */
function Beginning({ project, branch }: { project: Project; branch: string }) {
  if (!project.can.push) return <Empty title={t.thisRepositoryIsEmpty} />
  return (
    <Empty title={t.thisRepositoryIsEmpty}>
      <p>
        <a class="button" data-kind="main" href={`${locationAddress(project, 'new', branch)}?name=README.md`}>
          {t.addReadme}
        </a>
      </p>
      <p>{t.orPushExistingRepository}</p>
      <pre tabIndex={0}>{`git remote add origin ${project.http_url_to_repo}\ngit push -u origin ${branch}`}</pre>
    </Empty>
  )
}
