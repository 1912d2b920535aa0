import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

export const LINK_TYPES = ['other', 'runbook', 'image', 'package'] as const
export type LinkType = (typeof LINK_TYPES)[number]

declare module '../../../store/database.ts' {
  interface Tables {
    /** One per tag: its notes and all other fields of a release. */
    releases: {
      id: Generated<number>
      project_id: number
      tag: string
      sha: string | null
      name: string | null
      description: string | null
      author_id: number | null
      released_at: string
      created_at: string
      updated_at: string
    }
    release_links: {
      id: Generated<number>
      release_id: number
      name: string
      url: string
      link_type: LinkType
      direct_asset_path: string | null
      created_at: string
    }
    release_milestones: { release_id: number; milestone_id: number }
    /** Releases whose tag was deleted. They return if this change is undone. */
    deleted_releases: {
      id: Generated<number>
      project_id: number
      ref_change_id: number
      /** The id that the release had, and will have again. */
      release_id: number
      /** Its rows: a list of `Part` as JSON. */
      parts: string
    }
  }
  interface Events {
    'release.created': { id: number; project_id: number; by: number }
    'release.updated': { id: number; project_id: number; by: number }
    /** `by` is null if a deploy key without a creator deleted the tag. */
    'release.deleted': { id: number; project_id: number; tag: string; by: number | null }
  }
}

export type Release = Row<'releases'>
export type ReleaseLink = Row<'release_links'>
