/** All feeds, with the records that the viewer may see. Null if the viewer may not see the feed. */
import { sql } from 'kysely'
import { z } from 'zod'
import { parseInput, type Raw } from '../../../api/input.ts'
import { acquireSlot } from '../../../api/limiters.ts'
import type { App, User } from '../../../context.ts'
import { unauthenticated } from '../../../errors.ts'
import { findCommit } from '../../../git/objects/commits.ts'
import type { FeedEntry } from '../../../lib/text/atom.ts'
import { limitedCaller } from '../../../lib/async/limiter.ts'
import { encodeSegments } from '../../../lib/text/segments.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import { PageTooLarge } from '../../../store/pages.ts'
import { groupPolicy } from '../../groups/groups/policy.ts'
import { findGroup, findGroupById, loadGroupSubject, type Group } from '../../groups/groups/queries.ts'
import { userPolicy } from '../../identity/users/policy.ts'
import { user as userResource } from '../../identity/users/queries.ts'
import { filterInput as mergeRequestInput } from '../../merge-requests/merge-requests/filter.ts'
import { mergeRequestLists } from '../../merge-requests/merge-requests/lists.ts'
import { presentMergeRequestsById } from '../../merge-requests/merge-requests/load.ts'
import { listActivities } from '../../planning/events/lists.ts'
import { presentEvents } from '../../planning/events/queries.ts'
import { filterFrom, filterInput } from '../../planning/issues/filter.ts'
import { issueLists } from '../../planning/issues/lists.ts'
import { presentIssuesById } from '../../planning/issues/load.ts'
import { projectPaths } from '../../planning/items/load.ts'
import { issuesPolicy } from '../../planning/issues/policy.ts'
import { readsMergeRequests } from '../../merge-requests/merge-requests/policy.ts'
import { projectPolicy } from '../../projects/projects/policy.ts'
import { findProject, loadProjectSubject, webUrlOf } from '../../projects/projects/queries.ts'
import { presentCommit } from '../../repository/commits/entity.ts'
import { findHistory } from '../../repository/commits/queries.ts'
import { listReleases, presentReleases } from '../../repository/releases/queries.ts'
import { repositoryPolicy, type RepositorySubject } from '../../repository/repositories/policy.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { presentTag } from '../../repository/tags/entity.ts'
import { aroundTags, listLoadedTags } from '../../repository/tags/queries.ts'
import type { FeedAddress } from './addresses.ts'
import { byline, commitEntry, eventEntry, plain, plannedEntry, rendered } from './entries.ts'

/** The viewer and the query of a request for a feed. */
export interface FeedRequest {
  readonly viewer: User | null
  readonly address: string
  readonly query: Raw
}

export interface Feed {
  readonly title: string
  /** The web page that the feed belongs to. */
  readonly page: string
  readonly since: string
  readonly entries: readonly FeedEntry[]
}

const PAGE = { limit: 20, offset: 0 }
const COMMITS = { limit: 40, offset: 0, page: 1, perPage: 40 }

export function findFeed(app: App, feedRequest: FeedRequest, at: FeedAddress): Promise<Feed | null> {
  switch (at.of) {
    case 'activity':
      return at.path.includes('/') ? activityBelow(app, feedRequest, at.path) : activityAtTop(app, feedRequest, at.path)
    case 'issues':
      return projectIssues(app, feedRequest, at.path)
    case 'merge_requests':
      return projectMergeRequests(app, feedRequest, at.path)
    case 'commits':
      return commitsOf(app, feedRequest, at)
    case 'tags':
      return inRepository(app, feedRequest, at.path, (subject) => tagsOf(app, subject))
    case 'releases':
      return inRepository(app, feedRequest, at.path, (subject) => releasesOf(app, subject))
  }
}

/** A feed has no pages: with long texts it has fewer entries. */
async function fitting<T>(most: number, read: (most: number) => Promise<T>): Promise<T> {
  try {
    return await read(most)
  } catch (error) {
    if (!(error instanceof PageTooLarge) || most < 2) throw error
    return fitting(Math.ceil(most / 2), read)
  }
}

async function activityEntries(
  app: App,
  viewer: User | null,
  filter: Parameters<typeof listActivities>[2],
): Promise<FeedEntry[]> {
  const { items } = await listActivities(app, viewer, filter, {}, PAGE)
  const events = await fitting(items.length, (most) => presentEvents(app, items.slice(0, most)))
  const paths = await projectPaths(
    app.db,
    events.map(({ project_id }) => project_id),
  )
  return Promise.all(events.map((event) => eventEntry(app, event, paths.get(event.project_id) ?? '')))
}

/** A path of one segment: a user or a group. */
async function activityAtTop(app: App, feedRequest: FeedRequest, path: string): Promise<Feed | null> {
  const namespace = await app.db
    .selectFrom('namespaces')
    .select(['id', 'kind', 'owner_id'])
    .where(sql`lower(full_path)`, '=', path.toLowerCase())
    .executeTakeFirst()
  if (namespace?.kind === 'group') return groupActivity(app, feedRequest, await findGroupById(app.db, namespace.id))
  return namespace?.owner_id ? userActivity(app, feedRequest, namespace.owner_id) : null
}

async function activityBelow(app: App, feedRequest: FeedRequest, path: string): Promise<Feed | null> {
  const project = await findProject(app.db, path)
  if (!project) return groupActivity(app, feedRequest, await findGroup(app.db, path))
  const subject = await loadProjectSubject(app, project, feedRequest.viewer)
  if (!projectPolicy.read(subject)) return null
  return {
    title: `${project.name} activity`,
    page: webUrlOf(app, subject),
    since: project.created_at,
    entries: await activityEntries(app, feedRequest.viewer, { project: project.id }),
  }
}

async function userActivity(app: App, { viewer }: FeedRequest, id: number): Promise<Feed | null> {
  const subject = await userResource.find(app, { id }, viewer)
  if (!subject || !userPolicy.read(subject)) return null
  const { user } = subject
  return {
    title: `${user.name} activity`,
    page: `${app.url}/${user.username}`,
    since: user.created_at,
    entries: await activityEntries(app, viewer, { author: user.id }),
  }
}

async function groupActivity(app: App, { viewer }: FeedRequest, group: Group | null): Promise<Feed | null> {
  if (!group || !groupPolicy.read(await loadGroupSubject(app, group, viewer))) return null
  return {
    title: `${group.name} activity`,
    page: `${app.url}/groups/${group.full_path}`,
    since: group.created_at,
    entries: await activityEntries(app, viewer, { group: group.id }),
  }
}

/** The activity in all projects of the viewer. */
export async function dashboardActivity(app: App, { viewer }: FeedRequest): Promise<Feed> {
  if (!viewer) throw unauthenticated()
  return {
    title: 'Activity',
    page: `${app.url}/dashboard/projects`,
    since: viewer.created_at,
    entries: await activityEntries(app, viewer, { member: viewer.id }),
  }
}

/** Also accepts the parameters of the web pages: `label_name[]`, `milestone_title`, `sort=updated_desc`. */
function listInput<Shape extends z.ZodRawShape>(shape: Shape, query: Raw): z.infer<z.ZodObject<Shape>> {
  const { label_name: labels, milestone_title: milestone, sort: _sort, ...rest } = query
  const raw = { ...(labels !== undefined && { labels }), ...(milestone !== undefined && { milestone }), ...rest }
  const {
    parts: [given],
  } = parseInput([z.object(shape)], { state: 'opened', ...raw })
  return given as z.infer<z.ZodObject<Shape>>
}

function orderOf({ sort }: Raw) {
  const [, by, way] = /^(created|updated)_(asc|desc)$/.exec(typeof sort === 'string' ? sort : '') ?? []
  return {
    order_by: by === 'updated' ? ('updated_at' as const) : ('created_at' as const),
    sort: way === 'asc' ? ('asc' as const) : ('desc' as const),
  }
}

async function issueEntries(
  app: App,
  viewer: User | null,
  page: readonly { readonly id: number }[],
): Promise<FeedEntry[]> {
  const records = await fitting(page.length, (most) =>
    presentIssuesById(app, viewer, page.slice(0, most), { isMixed: true }),
  )
  return Promise.all(records.map(({ value }) => plannedEntry(app, value)))
}

async function projectIssues(app: App, { viewer, query }: FeedRequest, path: string): Promise<Feed | null> {
  const project = await findProject(app.db, path)
  const subject = project && (await loadProjectSubject(app, project, viewer))
  if (!subject || !projectPolicy.read(subject) || !issuesPolicy.readIssues(subject)) return null
  const filter = { ...(await filterFrom(app, viewer, listInput(filterInput, query))), ...orderOf(query) }
  const { items } = await issueLists.listOfProject(app, subject, filter, PAGE)
  return {
    title: `${subject.project.name} issues`,
    page: pageBelow(webUrlOf(app, subject), 'issues'),
    since: subject.project.created_at,
    entries: await issueEntries(app, viewer, items),
  }
}

export async function groupIssues(app: App, { viewer, query }: FeedRequest, path: string): Promise<Feed | null> {
  const group = await findGroup(app.db, path)
  if (!group || !groupPolicy.read(await loadGroupSubject(app, group, viewer))) return null
  const filter = { ...(await filterFrom(app, viewer, listInput(filterInput, query))), ...orderOf(query) }
  const { items } = await issueLists.listAll(app, viewer, { ...filter, group: group.id }, PAGE)
  return {
    title: `${group.name} issues`,
    page: pageBelow(`${app.url}/groups/${group.full_path}`, 'issues'),
    since: group.created_at,
    entries: await issueEntries(app, viewer, items),
  }
}

const PEOPLE = ['scope', 'author_id', 'author_username', 'assignee_id', 'assignee_username']

/** The issues assigned to the viewer, unless the query names other people. */
export async function dashboardIssues(app: App, { viewer, query }: FeedRequest): Promise<Feed> {
  if (!viewer) throw unauthenticated()
  const scope = PEOPLE.some((name) => query[name] !== undefined) ? {} : { scope: 'assigned_to_me' }
  const given = listInput(filterInput, { ...scope, ...query })
  const filter = { ...(await filterFrom(app, viewer, given)), ...orderOf(query) }
  const { items } = await issueLists.listAll(app, viewer, filter, PAGE)
  return {
    title: `${viewer.name} issues`,
    page: `${app.url}/dashboard/issues`,
    since: viewer.created_at,
    entries: await issueEntries(app, viewer, items),
  }
}

async function projectMergeRequests(app: App, { viewer, query }: FeedRequest, path: string): Promise<Feed | null> {
  const project = await findProject(app.db, path)
  const subject = project && (await loadProjectSubject(app, project, viewer))
  if (!subject || !projectPolicy.read(subject) || !readsMergeRequests(subject)) return null
  const { state } = mergeRequestInput
  const filter = { ...listInput({ state }, query), ...orderOf(query) }
  const { items } = await mergeRequestLists.listOfProject(app, subject, filter, PAGE)
  const records = await fitting(items.length, (most) =>
    presentMergeRequestsById(app, items.slice(0, most), { isMixed: true }),
  )
  return {
    title: `${subject.project.name} merge requests`,
    page: pageBelow(webUrlOf(app, subject), 'merge_requests'),
    since: subject.project.created_at,
    entries: await Promise.all(records.map((record) => plannedEntry(app, record))),
  }
}

/** Runs `work` within the limiter for git operations. */
async function inRepository(
  app: App,
  { viewer, address }: FeedRequest,
  path: string,
  work: (subject: RepositorySubject) => Promise<Feed | null>,
): Promise<Feed | null> {
  const project = await findProject(app.db, path)
  const subject = project && (await loadRepositorySubject(app, project, viewer))
  if (!subject || !repositoryPolicy.read(subject) || !repositoryPolicy.download(subject)) return null
  const leave = await acquireSlot(app.limiters.git, limitedCaller(viewer?.id, address))
  return work(subject).finally(leave)
}

const MOST_SEGMENTS = 20

/** A ref may contain slashes, and a path may follow: the longest prefix that is a ref wins. */
async function splitRef(dir: string, segments: readonly string[]) {
  for (let n = Math.min(segments.length, MOST_SEGMENTS); n > 0; n--) {
    const ref = segments.slice(0, n).join('/')
    if (await findCommit(dir, ref)) return { ref, path: segments.slice(n).join('/') }
  }
  return null
}

function commitsOf(app: App, feedRequest: FeedRequest, at: FeedAddress & { of: 'commits' }): Promise<Feed | null> {
  return inRepository(app, feedRequest, at.path, async (subject) => {
    const { project, dir } = subject
    for (const rest of at.rests) {
      const location = await splitRef(dir, rest.length === 0 ? [project.default_branch] : rest)
      if (!location) continue
      const { ref, path } = location
      const { items } = await findHistory(dir, { ref_name: ref, path }, COMMITS)
      const url = webUrlOf(app, subject)
      return {
        title: `${project.name}:${ref} commits`,
        page: pageBelow(url, `commits/${encodeSegments(path ? `${ref}/${path}` : ref)}`),
        since: project.created_at,
        entries: items.map((commit) => commitEntry(presentCommit(commit, { url }))),
      }
    }
    return null
  })
}

async function tagsOf(app: App, subject: RepositorySubject): Promise<Feed> {
  const { items } = await listLoadedTags(subject.dir, { order: 'updated_desc', skip: 0, limit: PAGE.limit })
  const around = await aroundTags(app, subject, items)
  const entries = items.map(async (item): Promise<FeedEntry> => {
    const tag = presentTag(item, around)
    const page = pageBelow(around.url, `tags/${encodeSegments(tag.name)}`)
    return {
      id: page,
      title: tag.name,
      link: page,
      updated: tag.created_at ?? tag.commit?.committed_date ?? subject.project.created_at,
      ...(tag.commit && { author: { name: tag.commit.author_name || 'unknown' } }),
      summary: plain(tag.message ?? tag.name),
      content: await rendered(app, tag.release?.description ?? null, around.url.slice(app.url.length + 1)),
    }
  })
  return {
    title: `${subject.project.name} tags`,
    page: pageBelow(around.url, 'tags'),
    since: subject.project.created_at,
    entries: await Promise.all(entries),
  }
}

async function releasesOf(app: App, subject: RepositorySubject): Promise<Feed> {
  const page = { ...COMMITS, limit: PAGE.limit, perPage: PAGE.limit }
  const { items } = await fitting(page.limit, (limit) =>
    listReleases(app.db, subject.project.id, {}, { ...page, limit }),
  )
  const url = webUrlOf(app, subject)
  const records = await presentReleases(app, subject, items)
  const entries = records.map(async (release): Promise<FeedEntry> => ({
    id: release._links.self,
    title: release.name,
    link: release._links.self,
    updated: release.released_at,
    published: release.created_at,
    ...byline(release.author),
    summary: plain(release.tag_name),
    content: await rendered(app, release.description, url.slice(app.url.length + 1)),
  }))
  return {
    title: `${subject.project.name} releases`,
    page: pageBelow(url, 'releases'),
    since: subject.project.created_at,
    entries: await Promise.all(entries),
  }
}
