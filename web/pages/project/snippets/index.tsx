/** The snippets of a project. */
import type { Listed } from '../../../api.ts'
import { Icon } from '../../../components/Icon.tsx'
import { SnippetList, type Snippet } from '../../../components/Snippets.tsx'
import { Empty } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/snippets.ts'

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
  title: () => common.snippets,
  View: ({ project, snippets }) => (
    <>
      <div class="head">
        <h1>{common.snippets}</h1>
        {project.can.createSnippet && (
          <a class="button" data-kind="main" href={below(project, 'snippets/new')}>
            <Icon name="plus" /> {common.newSnippet}
          </a>
        )}
      </div>
      {snippets.items.length === 0 ? (
        <Empty title={t.noSnippetsYet}>
          <p>{t.useSnippetsToSharePieces}</p>
        </Empty>
      ) : (
        <SnippetList snippets={snippets} />
      )}
    </>
  ),
})
