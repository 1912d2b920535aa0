/** The frame of project pages: breadcrumbs and navigation. */
import type { Can } from '../abilities.ts'
import type { Records } from '../api.ts'
import { Tabs, type Tab } from '../components/lists.tsx'
import { Visibility } from '../components/State.tsx'
import { frame, type PageRequest } from '../page.ts'
import { Shell } from './instance.tsx'
import * as common from '../texts/common.ts'
import * as t from '../texts/shell.ts'
import './project.css'

export type Project = Records['Project'] & { can: Can<'project'> }

/** Visitors get a smaller record of a project, which is public then. Calls for pages they may not see are rejected. */
const FOR_VISITORS = {
  visibility: 'public',
  issues_enabled: true,
  merge_requests_enabled: true,
  jobs_enabled: true,
  wiki_enabled: true,
  snippets_enabled: true,
  archived: false,
} as const

export interface InProject {
  project: Project
}

export const projectFrame = frame<InProject>({
  load: ({ api, params }: PageRequest) => ({
    project: api
      .withAbilities('project', { id: params.id! }, api.get('/projects/{id}', { id: params.id! }))
      .then((project) => ({ ...FOR_VISITORS, ...project })),
  }),
  title: ({ project }) => project.path_with_namespace,
  View: ({ project, children, ...drawn }) => (
    <Shell {...drawn}>
      <div class="place">
        <Trail path={project.path_with_namespace} />
        <Visibility of={project.visibility} />
        {project.archived && <span class="badge">{common.archived}</span>}
      </div>
      <Tabs label={common.project} tabs={tabsOf(project, drawn.address)} />
      <main id="main" class="page">
        {children}
      </main>
    </Shell>
  ),
})

/** Each part of a path is a link. */
export function Trail({ path }: { path: string }) {
  const parts = path.split('/')
  return (
    <nav class="trail" aria-label={t.breadcrumb}>
      {parts.map((part, n) => (
        <span key={part + n}>
          {n > 0 && <span class="quiet"> / </span>}
          <a href={`/${parts.slice(0, n + 1).join('/')}`}>{part}</a>
        </span>
      ))}
    </nav>
  )
}

/** The URL of a page below a project. */
export const below = (project: { path_with_namespace: string }, rest: string) =>
  `/${project.path_with_namespace}/-/${rest}`

function tabsOf(project: Project, address: string): Tab[] {
  const base = `/${project.path_with_namespace}`
  const at = address.split('?', 1)[0]!.slice(base.length).replace(/^\/-/, '')
  const tab = (text: string, rest: string, words: readonly string[], count?: number): Tab => ({
    text,
    href: rest === '' ? base : below(project, rest),
    count,
    // `edit` is the settings page of the project; `edit/…` edits a file.
    isCurrent: at !== '/edit' && words.includes(at.split('/')[1] ?? ''),
  })
  return [
    tab(common.code, '', [
      '',
      'tree',
      'blob',
      'blame',
      'commits',
      'commit',
      'branches',
      'tags',
      'compare',
      'releases',
      'edit',
      'new',
      'find_file',
      'graphs',
      'forks',
      'network',
    ]),
    project.issues_enabled &&
      tab(
        common.issues,
        'issues',
        ['issues', 'boards', 'milestones', 'labels', 'deleted_items'],
        project.open_issues_count,
      ),
    project.merge_requests_enabled && tab(common.mergeRequests, 'merge_requests', ['merge_requests']),
    project.jobs_enabled &&
      tab('CI/CD', 'pipelines', [
        'pipelines',
        'jobs',
        'environments',
        'pipeline_schedules',
        'ci',
        'triggers',
        'runners',
      ]),
    project.wiki_enabled && tab(common.wiki, 'wikis/home', ['wikis']),
    project.snippets_enabled && tab(common.snippets, 'snippets', ['snippets']),
    tab(common.activity, 'activity', ['activity']),
    tab(common.members, 'project_members', ['project_members']),
    project.can.administer && {
      ...tab(common.settings, 'edit', ['settings', 'hooks']),
      ...(at === '/edit' && { isCurrent: true }),
    },
  ].filter((one) => one !== false && one !== undefined) as Tab[]
}
