/** The viewer's snippets; visitors see public ones. */
import type { Listed } from '../../../../api.ts'
import { Icon } from '../../../../components/Icon.tsx'
import { SnippetList, type Snippet } from '../../../../components/Snippets.tsx'
import { Empty, Tabs } from '../../../../components/lists.tsx'
import { page as declare } from '../../../../page.ts'

const isPublic = (query: URLSearchParams) => query.get('scope') === 'public'

export const page = declare<{ snippets: Listed<Snippet[]> }>({
  signedIn: true,
  load: ({ api, query }) => ({
    snippets: api.list(isPublic(query) ? '/snippets/public' : '/snippets', {
      per_page: 20,
      page: Number(query.get('page')) || 1,
    }),
  }),
  title: () => 'Snippets',
  View: ({ snippets, query }) => (
    <>
      <div class="head">
        <h1>Snippets</h1>
        <a class="button" data-kind="main" href="/-/snippets/new">
          <Icon name="plus" /> New snippet
        </a>
      </div>
      <Tabs
        label="Filter"
        tabs={[
          { text: 'Yours', href: '/-/snippets', isCurrent: !isPublic(query) },
          { text: 'Public', href: '/-/snippets?scope=public', isCurrent: isPublic(query) },
        ]}
      />
      {snippets.items.length === 0 ? (
        <Empty title="No snippets yet">
          <a href="/-/snippets/new">Create a snippet</a>
        </Empty>
      ) : (
        <SnippetList snippets={snippets} />
      )}
    </>
  ),
})
