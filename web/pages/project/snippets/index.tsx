/** The snippets of a project. */
import type { Listed } from '../../../api.ts'
import { Icon } from '../../../components/Icon.tsx'
import { SnippetList, type Snippet } from '../../../components/Snippets.tsx'
import { Empty } from '../../../components/lists.tsx'
import { REPORTER, mayIn } from '../../../layout/planning.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'

interface Data {
  snippets: Listed<Snippet[]>
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params, query }) => ({
    snippets: api.list('/projects/{id}/snippets', {
      id: params.id!,
      per_page: 20,
      page: Number(query.get('page')) || 1,
    }),
  }),
  title: () => 'Snippets',
  View: ({ project, snippets, me }) => (
    <>
      <div class="head">
        <h1>Snippets</h1>
        {mayIn(project, me) >= REPORTER && (
          <a class="button" data-kind="main" href={below(project, 'snippets/new')}>
            <Icon name="plus" /> New snippet
          </a>
        )}
      </div>
      {snippets.items.length === 0 ? (
        <Empty title="No snippets yet">
          <p>Use snippets to share pieces of code and text.</p>
        </Empty>
      ) : (
        <SnippetList snippets={snippets} />
      )}
    </>
  ),
})
