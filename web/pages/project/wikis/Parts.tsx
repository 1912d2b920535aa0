/** Parts of the pages of a wiki. */
import type { Records } from '../../../api.ts'
import { Button, Field, Form } from '../../../components/Form.tsx'
import { WritingArea } from '../../../components/WritingArea.tsx'
import { Empty } from '../../../components/lists.tsx'

export const WikiForm = ({ action, title, content }: { action: string; title: string; content: string }) => (
  <Form action={action}>
    <Field name="title" label="Title" required value={title} hint="Use a slash to create a subpage: guides/install" />
    <WritingArea name="content" label="Content" lines={18} required value={content} />
    <Button kind="main">Save page</Button>
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
  if (pages.length === 0) return <Empty title="No pages yet" />
  return (
    <nav aria-label="Wiki pages">
      <h2>Pages</h2>
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
        <a href={hrefOf('pages')}>All pages</a>
      </p>
    </nav>
  )
}
