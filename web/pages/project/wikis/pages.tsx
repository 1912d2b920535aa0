/** All pages of a wiki; `?view=history` lists the changes of all pages, also of deleted ones. */
import type { Listed, Records } from '../../../api.ts'
import { Person } from '../../../components/Avatar.tsx'
import { ActButton } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Empty, Pages, Row, Rows, Tabs } from '../../../components/lists.tsx'
import { Time } from '../../../components/Time.tsx'
import { listPage } from '../../../fields.ts'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import { undoWikiChange } from './undo.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/wikis.ts'

interface Data {
  pages: Records['WikiPageSummary'][]
  /** For the history. */
  changes: Listed<Records['WikiChange'][]> | null
}

const MOST = 1000
const isHistory = (query: URLSearchParams) => query.get('view') === 'history'

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params, query }) => ({
    pages: api.get('/projects/{id}/wikis', { id: params.id! }),
    changes: isHistory(query)
      ? api.list('/projects/{id}/wikis/ref_changes', { id: params.id!, ...listPage(query) })
      : null,
  }),
  title: (_, { query }) => (isHistory(query) ? t.historyOfWiki : t.wikiPages),
  actions: { undo: undoWikiChange },
  View: ({ project, pages, changes }) => {
    const here = below(project, 'wikis/pages')
    const hrefOf = (slug: string) => below(project, `wikis/${slug.split('/').map(encodeURIComponent).join('/')}`)
    return (
      <>
        <div class="head">
          <h1>{t.wikiPages}</h1>
          {project.can.writeWiki && (
            <a class="button" data-kind="main" href={below(project, 'wikis/new')}>
              <Icon name="plus" /> {t.newPage}
            </a>
          )}
        </div>
        <Tabs
          label={t.wikiPages}
          tabs={[
            { text: common.pages, href: here, isCurrent: changes === null },
            { text: common.history, href: `${here}?view=history`, isCurrent: changes !== null },
          ]}
        />
        {changes ? (
          <Changes changes={changes} mayUndo={project.can.writeWiki} />
        ) : pages.length === 0 ? (
          <Empty title={t.thisWikiIsEmpty}>
            <a href={below(project, 'wikis/home')}>{t.createHomePage}</a>
          </Empty>
        ) : (
          <Rows label={common.pages}>
            {pages.slice(0, MOST).map(({ slug, title }) => (
              <Row
                key={slug}
                lead={<Icon name="file" />}
                title={<a href={hrefOf(slug)}>{title}</a>}
                facts={
                  <>
                    {slug} · <a href={`${hrefOf(slug)}?view=history`}>{t.historyLink}</a>
                  </>
                }
              />
            ))}
          </Rows>
        )}
        {changes === null && pages.length > MOST && <p class="quiet">{t.morePages(pages.length - MOST)}</p>}
      </>
    )
  },
})

function Changes({ changes, mayUndo }: { changes: NonNullable<Data['changes']>; mayUndo: boolean }) {
  if (changes.items.length === 0) return <Empty title={t.noChangesYet} />
  return (
    <>
      <p class="quiet">{t.undoHint}</p>
      <Rows label={common.history}>
        {changes.items.map((change) => {
          const message = change.message ?? (change.after === null ? t.branchRemoved : t.noMessage)
          return (
            <Row
              key={change.id}
              lead={<Icon name="commit" />}
              title={message}
              facts={
                <>
                  <Person of={change.user} /> <Time at={change.created_at} /> {change.after?.slice(0, 8)}
                </>
              }
              aside={
                mayUndo && (
                  <ActButton
                    action="undo"
                    fields={{ change: String(change.id) }}
                    id={String(change.id)}
                    label={t.undoChange(message)}
                    confirm={t.undoChange(message)}
                  >
                    {common.undo}
                  </ActButton>
                )
              }
            />
          )
        })}
      </Rows>
      <Pages of={changes} />
    </>
  )
}
