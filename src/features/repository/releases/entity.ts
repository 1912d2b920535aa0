import { z } from 'zod'
import { API } from '../../../api/router.ts'
import { dateOut, entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { encodeSegments } from '../../../lib/text/segments.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import type { Row } from '../../../store/database.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import { CommitEntity, presentCommit } from '../commits/entity.ts'
import { LINK_TYPES, type Release, type ReleaseLink } from './model.ts'

export const ReleaseLinkEntity = entity({
  id: z.int(),
  name: z.string(),
  url: z.string(),
  direct_asset_url: z.string(),
  link_type: z.enum(LINK_TYPES),
}).meta({ id: 'ReleaseLink' })

/** A milestone in a release record, with its progress. */
export const ReleaseMilestoneEntity = entity({
  id: z.int(),
  iid: z.int(),
  /** Either the project or the group of the milestone. */
  project_id: z.int().optional(),
  group_id: z.int().optional(),
  title: z.string(),
  description: z.string().nullable(),
  state: z.enum(['active', 'closed']),
  created_at: timestampOut,
  updated_at: timestampOut,
  due_date: dateOut.nullable(),
  start_date: dateOut.nullable(),
  expired: z.boolean(),
  web_url: z.string(),
  issue_stats: entity({ total: z.int(), closed: z.int() }),
}).meta({ id: 'ReleaseMilestone' })

export const ReleaseEntity = entity({
  tag_name: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  /** On request only. */
  description_html: z.string().optional(),
  created_at: timestampOut,
  released_at: timestampOut,
  upcoming_release: z.boolean(),
  author: UserSummaryEntity.nullable(),
  commit: CommitEntity.nullable(),
  milestones: z.array(ReleaseMilestoneEntity),
  commit_path: z.string().nullable(),
  tag_path: z.string(),
  assets: entity({
    count: z.int(),
    sources: z.array(entity({ format: z.string(), url: z.string() })),
    links: z.array(ReleaseLinkEntity),
  }),
  evidences: z.array(z.never()),
  _links: entity({ self: z.string(), edit_url: z.string() }),
}).meta({ id: 'Release' })

export type ReleaseRecord = z.infer<typeof ReleaseEntity>

export interface ReleasedMilestone extends Row<'milestones'> {
  /** Set for a group milestone. */
  readonly group_path: string | null
  readonly issues: number
  readonly closed_issues: number
}

export interface LoadedRelease extends Release {
  readonly links: readonly ReleaseLink[]
  readonly milestones: readonly ReleasedMilestone[]
  readonly author: User | null
  /** Null if the commit no longer exists. */
  readonly commit: Commit | null
}

export interface ReleaseSurroundings {
  readonly users: Surroundings
  /** The path of the project's pages, starting with a slash. */
  readonly path: string
  readonly projectId: number
  readonly now: string
}

const FORMATS = ['zip', 'tar.gz', 'tar.bz2', 'tar']

export const releaseSources = (url: string, project: number, tag: string) =>
  FORMATS.map((format) => ({
    format,
    url: `${url}${API}/projects/${project}/repository/archive.${format}?sha=${encodeURIComponent(tag)}`,
  }))

export function presentRelease(release: LoadedRelease, around: ReleaseSurroundings): ReleaseRecord {
  const { tag, links, commit } = release
  const { url } = around.users
  const page = pageBelow(`${url}${around.path}`, `releases/${encodeURIComponent(tag)}`)
  return {
    tag_name: tag,
    name: release.name ?? tag,
    description: release.description,
    created_at: release.created_at,
    released_at: release.released_at,
    upcoming_release: release.released_at > around.now,
    author: release.author && presentUserSummary(release.author, around.users),
    commit: commit && presentCommit(commit, { url: `${url}${around.path}` }),
    milestones: release.milestones.map((milestone) => presentReleasedMilestone(milestone, around)),
    commit_path: commit && pageBelow(around.path, `commit/${commit.id}`),
    tag_path: pageBelow(around.path, `tags/${encodeSegments(tag)}`),
    assets: {
      count: FORMATS.length + links.length,
      sources: releaseSources(url, around.projectId, tag),
      links: links.map((link) => presentLink(link, { url, projectId: around.projectId, tag })),
    },
    evidences: [],
    _links: { self: page, edit_url: `${page}/edit` },
  }
}

function presentReleasedMilestone(
  milestone: ReleasedMilestone,
  { users, path, now }: ReleaseSurroundings,
): z.infer<typeof ReleaseMilestoneEntity> {
  const { project_id, group_id, due_date } = milestone
  const page = project_id === null ? `/groups/${milestone.group_path}` : path
  return {
    id: milestone.id,
    iid: milestone.iid,
    ...(project_id === null ? { group_id: group_id! } : { project_id }),
    title: milestone.title,
    description: milestone.description,
    state: milestone.state,
    created_at: milestone.created_at,
    updated_at: milestone.updated_at,
    due_date,
    start_date: milestone.start_date,
    expired: due_date !== null && due_date < now.slice(0, due_date.length),
    web_url: pageBelow(`${users.url}${page}`, `milestones/${milestone.iid}`),
    issue_stats: { total: milestone.issues, closed: milestone.closed_issues },
  }
}

/** A link with its own path has a stable URL, even if its target changes. */
export function presentLink(
  link: ReleaseLink,
  { url, projectId, tag }: { url: string; projectId: number; tag: string },
): z.infer<typeof ReleaseLinkEntity> {
  const release = `${url}${API}/projects/${projectId}/releases/${encodeURIComponent(tag)}`
  return {
    id: link.id,
    name: link.name,
    url: link.url,
    direct_asset_url: link.direct_asset_path === null ? link.url : `${release}/downloads${link.direct_asset_path}`,
    link_type: link.link_type,
  }
}
