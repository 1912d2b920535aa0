/** Parts of the pages of a wiki. */
import type { Records } from '../../../api.ts'
import { Button, Field, Form } from '../../../components/Form.tsx'
import { WritingArea } from '../../../components/WritingArea.tsx'
import { Empty } from '../../../components/lists.tsx'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/wikis.ts'
import './Parts.css'

export const WikiForm = ({ action, title, content }: { action: string; title: string; content: string }) => (
  <Form action={action}>
    <Field name="title" label={common.title} required value={title} hint={t.useSlashToCreateSubpage} />
    <WritingArea name="content" label={common.content} lines={18} required value={content} />
    <Button kind="main">{t.savePage}</Button>
  </Form>
)

interface WikiPagesProps {
  pages: readonly Records['WikiPageSummary'][]
  current: string
  hrefOf(slug: string): string
}

const MOST = 200

/** Pages, each after its folders; a folder that is also a page is not listed twice. */
function withFolders(pages: readonly Records['WikiPageSummary'][]) {
  const named = new Set(pages.map(({ slug }) => slug))
  return pages.flatMap(({ slug, title }) => {
    const parts = slug.split('/')
    const folders = parts.slice(1).map((_, n) => parts.slice(0, n + 1).join('/'))
    const fresh = folders.filter((folder) => !named.has(folder))
    for (const folder of fresh) named.add(folder)
    return [
      ...fresh.map((folder) => ({ slug: folder, title: folder.split('/').at(-1)!, isFolder: true })),
      { slug, title, isFolder: false },
    ]
  })
}

export function WikiPages({ pages, current, hrefOf }: WikiPagesProps) {
  if (pages.length === 0)
    return (
      <Empty title={t.noPagesYet}>
        <a href={`${hrefOf('pages')}?view=history`}>{common.history}</a>
      </Empty>
    )
  return (
    <nav aria-label={t.wikiPages}>
      <h2>{common.pages}</h2>
      <ul class="wiki-pages">
        {withFolders(pages.slice(0, MOST)).map(({ slug, title, isFolder }) => (
          <li data-depth={Math.min(3, slug.split('/').length - 1)} key={slug}>
            {isFolder ? (
              <span class="quiet">{title}</span>
            ) : (
              <a href={hrefOf(slug)} aria-current={slug === current ? 'page' : undefined}>
                {title}
              </a>
            )}
          </li>
        ))}
      </ul>
      <p>
        <a href={hrefOf('pages')}>{t.allPages}</a> · <a href={`${hrefOf('pages')}?view=history`}>{common.history}</a>
      </p>
    </nav>
  )
}
