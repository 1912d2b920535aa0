/** The home page: the viewer's todos and projects. Visitors see public projects. */
import type { Records } from '../../api.ts'
import { Avatar } from '../../components/Avatar.tsx'
import { State, Visibility } from '../../components/State.tsx'
import { Time } from '../../components/Time.tsx'
import { Empty, Row, Rows } from '../../components/lists.tsx'
import { page as declare, type Me } from '../../page.ts'

import { FirstSteps, begin } from './-/FirstSteps.tsx'
import { rich } from '../../rich.ts'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/home.ts'

interface Data {
  projects: Records['Project'][]
  todos: Records['Todo'][]
  issues: Records['Issue'][]
  reviews: Records['MergeRequest'][]
  /** An administrator of a server without projects sees the first steps. */
  isFirstRun: boolean
  settings: Records['WebSettings'] | null
}

export const page = declare<Data>({
  leadVisitors: async (api) => (await api.get('/application/web_settings', {})).home_page_url,
  load({ api, me }) {
    const none = Promise.resolve([])
    const per_page = 10
    return {
      isFirstRun: me?.is_admin
        ? api.get('/projects', { simple: true, per_page: 1 }).then((all) => all.length === 0)
        : false,
      settings: !me || me.is_admin ? api.get('/application/web_settings', {}) : null,
      projects: api.get('/projects', {
        ...(me && { membership: true }),
        order_by: 'last_activity_at',
        per_page,
      }),
      todos: me ? api.get('/todos', { per_page }) : none,
      issues: me ? api.get('/issues', { scope: 'assigned_to_me', state: 'opened', per_page }) : none,
      reviews: me ? api.get('/merge_requests', { scope: 'all', reviewer_id: me.id, state: 'opened', per_page }) : none,
    }
  },
  title: (_data, { me }) => (me ? common.home : common.explore),
  View: (data) =>
    data.me === null ? (
      <Welcome projects={data.projects} isOpen={data.settings?.sign_up_open ?? false} />
    ) : data.isFirstRun && data.settings ? (
      <FirstSteps me={data.me} settings={data.settings} project={null} tokens={[]} keys={[]} />
    ) : (
      <Dashboard {...data} me={data.me} />
    ),
  actions: { begin },
})

/** `isOpen`: visitors may register. */
const Welcome = ({ projects, isOpen }: Pick<Data, 'projects'> & { isOpen: boolean }) => (
  <>
    <h1>{common.projects}</h1>
    {isOpen && <p>{rich(t.createAccountToContribute, { link: (text) => <a href="/users/sign_up">{text}</a> })}</p>}
    <Projects projects={projects} />
  </>
)

function Dashboard({ projects, todos, issues, reviews, me }: Omit<Data, 'isFirstRun' | 'settings'> & { me: Me }) {
  return (
    <div class="columns">
      <section>
        <h1>{t.helloName(me.name)}</h1>
        <h2>{common.toDoList}</h2>
        {todos.length === 0 ? (
          <p class="quiet">{t.youreAllCaughtUpSentence}</p>
        ) : (
          <Rows label={common.toDoList}>
            {todos.map((todo) => (
              <Row
                key={todo.id}
                lead={<Avatar of={todo.author ?? { name: '?' }} />}
                title={<a href={todo.target_url}>{todo.body}</a>}
                facts={
                  <>
                    {todo.action_name.replaceAll('_', ' ')} <Time at={todo.created_at} />
                  </>
                }
              />
            ))}
          </Rows>
        )}
        <h2>{t.reviewRequests}</h2>
        {reviews.length === 0 ? (
          <p class="quiet">{t.noReviewsRequestedSentence}</p>
        ) : (
          <Rows label={t.reviews}>
            {reviews.map((one) => (
              <Row
                key={one.id}
                lead={<State of={one.state} isShort />}
                title={<a href={one.web_url}>{one.title}</a>}
                facts={<Time at={one.updated_at} />}
              />
            ))}
          </Rows>
        )}
        <h2>{common.myIssues}</h2>
        {issues.length === 0 ? (
          <p class="quiet">{t.noIssuesAssignedToYou}</p>
        ) : (
          <Rows label={common.issues}>
            {issues.map((one) => (
              <Row
                key={one.id}
                lead={<State of={one.state} isShort />}
                title={<a href={one.web_url}>{one.title}</a>}
                facts={<Time at={one.updated_at} />}
              />
            ))}
          </Rows>
        )}
      </section>
      <aside>
        <h2>{t.myProjects}</h2>
        <Projects projects={projects} />
        <p class="row">
          <a href="/dashboard/projects">{t.allMyProjects}</a> <a href="/dashboard/groups">{t.myGroups}</a>{' '}
          <a href="/projects/new">{common.newProject}</a>
        </p>
      </aside>
    </div>
  )
}

export function Projects({ projects }: { projects: Records['Project'][] }) {
  if (projects.length === 0) return <Empty title={t.noProjectsYet} />
  return (
    <Rows label={common.projects}>
      {projects.map((project) => (
        <Row
          key={project.id}
          lead={<Avatar of={project} size={32} />}
          title={
            <>
              <a href={`/${project.path_with_namespace}`}>{project.name_with_namespace}</a>{' '}
              {project.visibility && <Visibility of={project.visibility} />}
            </>
          }
          facts={
            <>
              {project.description} <Time at={project.last_activity_at} />
            </>
          }
        />
      ))}
    </Rows>
  )
}
