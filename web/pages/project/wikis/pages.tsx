/** All pages of a wiki. */
import type { Records } from '../../../api.ts'
import { Icon } from '../../../components/Icon.tsx'
import { Empty, Row, Rows } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/wikis.ts'

interface Data {
  pages: Records['WikiPageSummary'][]
}

const MOST = 1000

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params }) => ({ pages: api.get('/projects/{id}/wikis', { id: params.id! }) }),
  title: () => t.wikiPages,
  View: ({ project, pages }) => {
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
        {pages.length === 0 ? (
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
        {pages.length > MOST && <p class="quiet">{t.morePages(pages.length - MOST)}</p>}
      </>
    )
  },
})
