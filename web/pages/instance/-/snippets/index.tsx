/** The viewer's snippets; visitors see public ones. */
import type { Listed } from '../../../../api.ts'
import { Icon } from '../../../../components/Icon.tsx'
import { SnippetList, type Snippet } from '../../../../components/Snippets.tsx'
import { Empty, Tabs } from '../../../../components/lists.tsx'
import { page as declare } from '../../../../page.ts'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/snippets.ts'

const isPublic = (query: URLSearchParams) => query.get('scope') === 'public'

export const page = declare<{ snippets: Listed<Snippet[]> }>({
  signedIn: true,
  load: ({ api, query }) => ({
    snippets: api.list(isPublic(query) ? '/snippets/public' : '/snippets', {
      per_page: 20,
      page: Number(query.get('page')) || 1,
    }),
  }),
  title: () => common.snippets,
  View: ({ snippets, query }) => (
    <>
      <div class="head">
        <h1>{common.snippets}</h1>
        <a class="button" data-kind="main" href="/-/snippets/new">
          <Icon name="plus" /> {common.newSnippet}
        </a>
      </div>
      <Tabs
        label={common.filter}
        tabs={[
          { text: t.yours, href: '/-/snippets', isCurrent: !isPublic(query) },
          { text: common.publicVisibility, href: '/-/snippets?scope=public', isCurrent: isPublic(query) },
        ]}
      />
      {snippets.items.length === 0 ? (
        <Empty title={t.noSnippetsYet}>
          <a href="/-/snippets/new">{t.createSnippet}</a>
        </Empty>
      ) : (
        <SnippetList snippets={snippets} />
      )}
    </>
  ),
})
