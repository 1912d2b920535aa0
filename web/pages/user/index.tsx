/** A user: profile, projects and recent activity. */
import type { Listed, Records } from '../../api.ts'
import { Avatar } from '../../components/Avatar.tsx'
import { ActButton } from '../../components/Form.tsx'
import { State } from '../../components/State.tsx'
import { Time } from '../../components/Time.tsx'
import { Empty, Pages, Rows, Tabs } from '../../components/lists.tsx'
import { EventSentence, GroupRows, ProjectRows, UserRows } from '../../components/listings.tsx'
import { listPage } from '../../fields.ts'
import { outside } from '../../outside.ts'
import { page as declare, type PageRequest } from '../../page.ts'
import { withQuery } from '../../query.ts'
import { rich } from '../../rich.ts'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/home.ts'
import './index.css'

type Person = Partial<Records['User']> & Records['UserSummary']

interface Data {
  person: Person
  status: Records['UserStatus'] | null
  projects: Listed<Records['Project'][]> | null
  events: Listed<Records['Event'][]> | null
  projectPaths: Record<number, string>
  groups: Records['Group'][]
  people: Listed<Records['UserSummary'][]> | null
  followers: Records['UserSummary'][]
}

const VIEWS = [
  ['', common.projects],
  ['activity', common.activity],
  ['groups', common.groups],
  ['starred', common.starred],
  ['followers', t.followers],
  ['following', t.following],
] as const

async function personOf({ api, params }: PageRequest): Promise<Person> {
  const [found] = await api.get('/users', { username: params.id! })
  return (found && (await api.maybe('/users/{id}', { id: found.id }))) ?? found!
}

export const page = declare<Data>({
  async load(request) {
    const { api, params, query, me } = request
    const user_id = params.id!
    const view = query.get('tab') ?? ''
    const found = listPage(query, 20)
    const person = await personOf(request)
    const { id } = person
    const events =
      view === 'activity'
        ? await listOrNull(() => api.list('/users/{user_id}/events', { user_id: id, ...found }))
        : null
    const seen = [...new Set(events?.items.map(({ project_id }) => project_id) ?? [])]
    const projectPaths = seen.map(async (one) => [
      one,
      (await api.maybe('/projects/{id}', { id: one }))?.path_with_namespace ?? '',
    ])
    return {
      person,
      status: api.maybe('/users/{user_id}/status', { user_id: id }),
      projects:
        view === ''
          ? api.list('/users/{user_id}/projects', { user_id, order_by: 'last_activity_at', ...found })
          : view === 'starred'
            ? api.list('/users/{user_id}/starred_projects', { user_id, ...found })
            : null,
      events,
      projectPaths: Object.fromEntries(await Promise.all(projectPaths)) as Record<number, string>,
      groups: view === 'groups' && me?.id === id ? api.get('/groups', { min_access_level: 10, per_page: 100 }) : [],
      people:
        view === 'followers'
          ? listOrNull(() => api.list('/users/{id}/followers', { id, ...found }))
          : view === 'following'
            ? listOrNull(() => api.list('/users/{id}/following', { id, ...found }))
            : null,
      followers: me ? api.maybe('/users/{id}/followers', { id, per_page: 100 }).then((all) => all ?? []) : [],
    }
  },
  title: ({ person }) => `${person.name} (@${person.username})`,
  description: ({ person }) => person.bio,
  View: ({ person, status, query, address, me, followers, ...data }) => {
    const view = query.get('tab') ?? ''
    const isOwn = me?.id === person.id
    const isFollowed = me !== null && followers.some(({ id }) => id === me.id)
    const tabs = VIEWS.filter(([name]) => (name !== 'groups' || isOwn) && (me !== null || !name.startsWith('follow')))
    return (
      <>
        <div class="person-head">
          <Avatar of={person} size={96} />
          <div>
            <h1>{person.name}</h1>
            <p class="quiet">
              @{person.username} {person.pronouns && <>({person.pronouns}) </>}
              {person.created_at && rich(t.joinedTime, { time: <Time at={person.created_at} /> })}{' '}
              {person.state !== 'active' && <State of={person.state} />}
            </p>
            {status?.message && <p>{status.message}</p>}
            {person.bio && <p>{person.bio}</p>}
            <p class="row quiet">
              {person.work_information && <span>{person.work_information}</span>}
              {person.location && <span>{person.location}</span>}
              {person.public_email && <a href={`mailto:${person.public_email}`}>{person.public_email}</a>}
              {person.website_url && (
                <a href={outside(person.website_url)} rel="nofollow noreferrer">
                  {person.website_url}
                </a>
              )}
            </p>
            <div class="row">
              {isOwn && (
                <a class="button" href="/-/profile">
                  {t.editProfile}
                </a>
              )}
              {me && !isOwn && (
                <ActButton action={isFollowed ? 'unfollow' : 'follow'} fields={{ user: person.id }}>
                  {isFollowed ? t.unfollow : t.follow}
                </ActButton>
              )}
              {me?.is_admin && (
                <a class="button" href={`/admin/users/${person.username}`}>
                  {' '}
                  {t.adminSettings}{' '}
                </a>
              )}
              {me && <span class="quiet">{t.followerCount(followers.length)}</span>}
            </div>
          </div>
        </div>
        <Tabs
          label={common.profile}
          tabs={tabs.map(([name, text]) => ({
            text,
            href: withQuery(address, { tab: name || null }),
            isCurrent: view === name,
          }))}
        />
        <h2 class="spoken">{VIEWS.find(([name]) => name === view)?.[1]}</h2>
        <Visible {...data} />
      </>
    )
  },
  actions: {
    async follow({ api, form }) {
      await api.post('/users/{id}/follow', { id: Number(form.user) })
    },
    async unfollow({ api, form }) {
      await api.post('/users/{id}/unfollow', { id: Number(form.user) })
    },
  },
})

/** Null for lists that visitors may not read. */
async function listOrNull<T>(ask: () => Promise<Listed<T>>): Promise<Listed<T> | null> {
  try {
    return await ask()
  } catch {
    return null
  }
}

function Visible({ projects, events, projectPaths, groups, people }: Omit<Data, 'person' | 'status' | 'followers'>) {
  if (projects)
    return projects.items.length === 0 ? (
      <Empty title={t.noPublicProjects} />
    ) : (
      <>
        <ProjectRows projects={projects.items} />
        <Pages of={projects} />
      </>
    )
  if (events && events.items.length > 0)
    return (
      <>
        <Rows label={common.activity}>
          {events.items.map((event) => (
            <EventSentence event={event} projectPath={projectPaths[event.project_id]} key={event.id} />
          ))}
        </Rows>
        <Pages of={events} />
      </>
    )
  if (groups.length > 0) return <GroupRows groups={groups} />
  if (people && people.items.length > 0)
    return (
      <>
        <UserRows users={people.items} />
        <Pages of={people} />
      </>
    )
  return <Empty title={t.noActivityYet} />
}
