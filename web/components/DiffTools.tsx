/** Options of a diff view, and its file list. The URL keeps the options: `?view=split&w=1`. */
import { withQuery } from '../query.ts'
import { Counts, anchorOf, countChanges, type DiffFile, type DiffView } from './Diff.tsx'
import { Icon } from './Icon.tsx'
import * as common from '../texts/common.ts'
import * as t from '../texts/repository.ts'
import './DiffTools.css'

export const viewOf = (query: URLSearchParams): DiffView => (query.get('view') === 'split' ? 'split' : 'unified')
export const hidesSpaces = (query: URLSearchParams) => query.get('w') === '1'
/** The API parameters: highlighting, and whitespace changes hidden on request. */
export const looksOf = (query: URLSearchParams) => ({
  render_html: true,
  ...(hidesSpaces(query) && { ignore_whitespace: true }),
})

interface DiffToolsProps {
  files: readonly DiffFile[]
  /** Over all pages. */
  total: number
  address: string
  query: URLSearchParams
}

export function DiffTools({ files, total, address, query }: DiffToolsProps) {
  const view = viewOf(query)
  return (
    <div class="diff-tools">
      <details class="menu diff-list">
        <summary class="button">
          {t.filesChanged(total)} <Icon name="down" />
        </summary>
        <div class="menu-items">
          {files.map((file) => (
            <a href={`#${anchorOf(file)}`} key={file.new_path}>
              {file.new_path} <Counts {...countChanges(file)} />
            </a>
          ))}
        </div>
      </details>
      <nav class="row" aria-label={common.diffView}>
        <a href={withQuery(address, { view: null })} aria-current={view === 'unified' ? 'true' : undefined}>
          {common.unified}
        </a>
        <a href={withQuery(address, { view: 'split' })} aria-current={view === 'split' ? 'true' : undefined}>
          {t.sideBySide}
        </a>
        <a href={withQuery(address, { w: hidesSpaces(query) ? null : '1' })}>
          {hidesSpaces(query) ? common.showWhitespace : common.hideWhitespace}
        </a>
      </nav>
    </div>
  )
}
