import type { Generated } from 'kysely'
import type { Visibility } from '../../../lib/levels.ts'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    snippets: {
      id: Generated<number>
      /** Null: a personal snippet. */
      project_id: number | null
      author_id: number
      title: string
      description: string | null
      visibility: Visibility
      created_at: string
      updated_at: string
    }
    /** In the order of their ids; never empty. */
    snippet_files: { id: Generated<number>; snippet_id: number; path: string; content: string }
  }
  interface Events {
    'snippet.created': { id: number; project_id: number | null; by: number }
    'snippet.updated': { id: number; project_id: number | null; by: number }
    'snippet.deleted': { id: number; project_id: number | null; by: number }
  }
}

export type Snippet = Row<'snippets'>
export type SnippetFile = Pick<Row<'snippet_files'>, 'path' | 'content'>
