import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { VISIBILITIES } from '../../../lib/levels.ts'
import { encodeSegments } from '../../../lib/text/segments.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import type { Snippet } from './model.ts'

export const SnippetEntity = entity({
  id: z.int(),
  title: z.string(),
  description: z.string().nullable(),
  visibility: z.enum(VISIBILITIES),
  author: UserSummaryEntity,
  created_at: timestampOut,
  updated_at: timestampOut,
  project_id: z.int().nullable(),
  web_url: z.string(),
  raw_url: z.string(),
  /** Snippets have no repository here. */
  ssh_url_to_repo: z.null(),
  http_url_to_repo: z.null(),
  /** The path of the first file. */
  file_name: z.string(),
  files: z.array(
    entity({
      path: z.string(),
      raw_url: z.string(),
      /** Only with `render_html`: the content, and the content with highlighted syntax. */
      content: z.string().optional(),
      content_html: z.string().optional(),
    }),
  ),
  /** With `render_html`: rendered for the viewer. */
  description_html: z.string().optional(),
}).meta({ id: 'Snippet' })

export type SnippetRecord = z.infer<typeof SnippetEntity>

export interface LoadedSnippet extends Snippet {
  readonly author: User
  readonly paths: readonly string[]
  /** The path of the project. */
  readonly projectPath: string | null
}

/** The name of the only version, for clients that ask for a ref. */
export const REF = 'main'

export function presentSnippet(snippet: LoadedSnippet, around: Surroundings): SnippetRecord {
  const { author, paths, projectPath } = snippet
  const web_url = `${around.url}/${projectPath === null ? '' : `${projectPath}/`}-/snippets/${snippet.id}`
  return {
    id: snippet.id,
    title: snippet.title,
    description: snippet.description,
    visibility: snippet.visibility,
    author: presentUserSummary(author, around),
    created_at: snippet.created_at,
    updated_at: snippet.updated_at,
    project_id: snippet.project_id,
    web_url,
    raw_url: `${web_url}/raw`,
    ssh_url_to_repo: null,
    http_url_to_repo: null,
    file_name: paths[0] ?? '',
    files: paths.map((path) => ({ path, raw_url: `${web_url}/raw/${REF}/${encodeSegments(path)}` })),
  }
}
