import { z } from 'zod'
import { API } from '../../../api/router.ts'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { encodeSegments } from '../../../lib/segments.ts'
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

export const ReleaseEntity = entity({
  tag_name: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  created_at: timestampOut,
  released_at: timestampOut,
  upcoming_release: z.boolean(),
  author: UserSummaryEntity.nullable(),
  commit: CommitEntity.nullable(),
  milestones: z.array(z.never()),
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

export interface LoadedRelease extends Release {
  readonly links: readonly ReleaseLink[]
  readonly author: User | null
  /** Null once it is gone. */
  readonly commit: Commit | null
}

export interface ReleaseSurroundings {
  readonly users: Surroundings
  /** Of the project's pages, from a slash on. */
  readonly path: string
  readonly projectId: number
  readonly now: string
}

const FORMATS = ['zip', 'tar.gz', 'tar.bz2', 'tar']

export function presentRelease(release: LoadedRelease, around: ReleaseSurroundings): ReleaseRecord {
  const { tag, links, commit } = release
  const { url } = around.users
  const page = `${url}${around.path}/releases/${encodeURIComponent(tag)}`
  return {
    tag_name: tag,
    name: release.name ?? tag,
    description: release.description,
    created_at: release.created_at,
    released_at: release.released_at,
    upcoming_release: release.released_at > around.now,
    author: release.author && presentUserSummary(release.author, around.users),
    commit: commit && presentCommit(commit, { url: `${url}${around.path}` }),
    milestones: [],
    commit_path: commit && `${around.path}/commit/${commit.id}`,
    tag_path: `${around.path}/tags/${encodeSegments(tag)}`,
    assets: {
      count: FORMATS.length + links.length,
      sources: FORMATS.map((format) => ({
        format,
        url: `${url}${API}/projects/${around.projectId}/repository/archive.${format}?sha=${encodeURIComponent(tag)}`,
      })),
      links: links.map((link) => presentLink(link, { url, projectId: around.projectId, tag })),
    },
    evidences: [],
    _links: { self: page, edit_url: `${page}/edit` },
  }
}

/** A link with a path of its own has an address that stays while what it leads to changes. */
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
