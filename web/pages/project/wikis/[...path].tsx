/** A wiki page; `?version=` shows an old version, `?view=history` its history, `?view=edit` its form. */
import type { Listed, Records } from '../../../api.ts'
import { ActButton } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Prose } from '../../../components/State.tsx'
import { Empty, Tabs } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare, text, type Act, type PageRequest } from '../../../page.ts'
import { CompareView, History, compareVersions, type Comparison } from './Compare.tsx'
import { WikiForm, WikiPages } from './Parts.tsx'
import { undoWikiChange, undoableChange } from './undo.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/wikis.ts'

interface Data {
  wiki: Records['WikiPage'] | null
  pages: Records['WikiPageSummary'][]
  versions: Listed<Records['WikiVersion'][]> | null
  source: string | null
  comparison: Comparison | null
}

/** The URL without a path is the home page. */
const pathIn = (params: PageRequest['params']) => params.path ?? 'home'

const PAGE = '/projects/{id}/wikis/{slug}'
const addressOf = (id: string, slug: string) => `/${id}/-/wikis/${slug.split('/').map(encodeURIComponent).join('/')}`
const titleOf = (slug: string) => slug.split('/').at(-1)!.replaceAll('-', ' ')
const written = ({ form }: Act) => ({ title: text(form, 'title'), content: text(form, 'content') })

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params, query }) => {
    const at = { id: params.id!, slug: pathIn(params) }
    const version = query.get('version') || undefined
    const view = query.get('view')
    return {
      wiki: api.maybe(PAGE, { ...at, render_html: true, version }),
      pages: api.get('/projects/{id}/wikis', { id: at.id }),
      versions:
        view === 'history'
          ? api.list(`${PAGE}/history`, { ...at, per_page: 50, page: Number(query.get('page')) || 1 })
          : null,
      comparison: view === 'compare' ? compareVersions(api, at, query) : null,
      source: view === 'edit' ? api.maybe(PAGE, { ...at, version }).then((found) => found?.content ?? null) : null,
    }
  },
  title: ({ wiki }, { params }) => wiki?.title ?? pathIn(params),
  live: ({ project }) => ({ path: `/projects/${project.id}/live`, events: ['repository.changed'] }),
  actions: {
    async create(act) {
      const { id } = act.params
      const made = await act.api.post('/projects/{id}/wikis', { id: id!, ...written(act) })
      return addressOf(id!, made.slug)
    },
    async change(act) {
      const { id } = act.params
      const edit = () => act.api.put(PAGE, { id: id!, slug: pathIn(act.params), ...written(act) })
      const { result, undoable } = await undoableChange(act, edit)
      return { to: addressOf(id!, result.slug), ...undoable(t.pageSaved(result.title)) }
    },
    async restore(act) {
      const { api, params, form } = act
      const at = { id: params.id!, slug: pathIn(params) }
      const old = await api.get(PAGE, { ...at, version: text(form, 'version') })
      const { undoable } = await undoableChange(act, () => api.put(PAGE, { ...at, content: old.content }))
      return { to: addressOf(at.id, at.slug), ...undoable(t.versionRestored) }
    },
    async destroy(act) {
      const at = { id: act.params.id!, slug: pathIn(act.params) }
      const { undoable } = await undoableChange(act, () => act.api.delete(PAGE, at))
      return { to: addressOf(at.id, 'home'), ...undoable(t.pageDeleted(titleOf(at.slug))) }
    },
    undo: undoWikiChange,
  },
  View: ({ project, wiki, pages, versions, source, comparison, params, query }) => {
    const path = pathIn(params)
    const here = addressOf(project.path_with_namespace, path)
    const view = query.get('view')
    const mayWrite = project.can.writeWiki
    const title = wiki?.title ?? path
    const tab = (name: string, one: string | null) => ({
      text: name,
      href: one ? `${here}?view=${one}` : here,
      isCurrent: view === one || (view === 'compare' && one === 'history'),
    })
    return (
      <div class="columns">
        <div>
          <div class="head">
            <h1>{title}</h1>
            {mayWrite && (
              <a class="button" href={below(project, 'wikis/new')}>
                <Icon name="plus" /> {t.newPage}
              </a>
            )}
          </div>
          {wiki && (
            <Tabs
              label={t.page}
              tabs={[
                tab(t.view, null),
                tab(common.history, 'history'),
                ...(mayWrite ? [tab(common.edit, 'edit')] : []),
              ]}
            />
          )}
          {query.get('version') && (
            <p class="fault-free">
              {rich(t.youAreViewingVersionQuery, {
                query: query.get('version')!.slice(0, 8),
                link: (text) => <a href={here}>{text}</a>,
              })}{' '}
              {mayWrite && wiki && (
                <ActButton action="restore" fields={{ version: query.get('version')! }}>
                  {t.restoreThisVersion}
                </ActButton>
              )}
            </p>
          )}
          {wiki === null ? (
            <Missing title={path} pages={pages} mayWrite={mayWrite} />
          ) : versions ? (
            <History versions={versions} here={here} />
          ) : comparison ? (
            <CompareView of={comparison} />
          ) : view === 'edit' && mayWrite ? (
            <>
              <WikiForm action="change" title={wiki.title} content={source ?? ''} />
              {project.can.deleteWikiPages && (
                <ActButton action="destroy" kind="danger" confirm={t.deletePageTitle(title)}>
                  <Icon name="trash" /> {t.deletePage}
                </ActButton>
              )}
            </>
          ) : (
            <Prose html={wiki.content} />
          )}
        </div>
        <aside class="side" aria-label={common.pages}>
          <WikiPages pages={pages} current={path} hrefOf={(slug) => addressOf(project.path_with_namespace, slug)} />
        </aside>
      </div>
    )
  },
})

function Missing({ title, pages, mayWrite }: { title: string; pages: readonly unknown[]; mayWrite: boolean }) {
  if (!mayWrite) return <Empty title={pages.length === 0 ? t.thisWikiIsEmpty : t.thisPageDoesNotExist} />
  return (
    <>
      <p class="quiet">{pages.length === 0 ? t.thisWikiIsEmptyCreate : t.thisPageDoesNotExistSentence}</p>
      <WikiForm action="create" title={title} content="" />
    </>
  )
}
