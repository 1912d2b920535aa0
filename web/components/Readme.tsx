/** The README of a folder. */
import type { Api, Records } from '../api.ts'
import { Icon } from './Icon.tsx'
import { Prose } from './State.tsx'
import { Code } from './Code.tsx'

const README = /^readme(\.(md|markdown|txt|rst|adoc))?$/i

export type ReadmeView = Pick<Records['FileView'], 'file_name' | 'html' | 'lines'>

export async function loadReadme(
  api: Api,
  id: string,
  ref: string,
  entries: readonly Records['TreeEntry'][],
): Promise<ReadmeView | null> {
  const entry = entries.find(({ name, type }) => type === 'blob' && README.test(name))
  if (!entry) return null
  return api.maybe('/projects/{id}/repository/files/{file_path}/view', { id, file_path: entry.path, ref })
}

export const Readme = ({ of: { file_name, html, lines } }: { of: ReadmeView }) => (
  <section class="card" aria-label={file_name}>
    <header>
      <Icon name="book" /> {file_name}
    </header>
    {html !== null ? <Prose html={html} /> : lines && <Code lines={lines} label={file_name} />}
  </section>
)
