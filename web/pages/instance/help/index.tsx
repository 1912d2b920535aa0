/** Help: the help text of the instance, the documentation with search, shortcuts and the API. */
import type { Records } from '../../../api.ts'
import { Keys } from '../../../components/Keys.tsx'
import { Empty, Row, Rows } from '../../../components/lists.tsx'
import { Chapter } from '../../../components/settings.tsx'
import { Prose } from '../../../components/State.tsx'
import { page as declare } from '../../../page.ts'
import { SearchForm } from './SearchForm.tsx'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/help.ts'

interface Data {
  /** Null for visitors if public visibility is restricted. */
  help: Records['Help'] | null
  index: Records['HelpPage'] | null
  found: Records['HelpResult'][] | null
  /** For signed-in users. */
  about: Records['Metadata'] | null
}

const wordsIn = (query: URLSearchParams) => (query.get('search') ?? '').trim().slice(0, 200)

export const page = declare<Data>({
  load({ api, me, query }) {
    const words = wordsIn(query)
    return {
      help: words ? null : api.maybe('/application/help', {}),
      index: words ? null : api.get('/application/help/pages/{page}', { page: 'index' }),
      found: words ? api.get('/application/help/search', { search: words }) : null,
      about: me && !words ? api.maybe('/metadata', {}) : null,
    }
  },
  title: (_data, { query }) => (wordsIn(query) ? `${wordsIn(query)} - Help` : common.help),
  View: ({ help, index, found, about, query }) => (
    <>
      <h1>{found ? <a href="/help">{common.help}</a> : common.help}</h1>
      <SearchForm words={wordsIn(query)} />
      {found && <Results found={found} />}
      {help?.html && <Prose html={help.html} />}
      {help?.support_url && (
        <p>
          <a class="button" href={help.support_url} rel="noreferrer">
            {t.contactSupport}
          </a>
        </p>
      )}
      {index && (
        <Chapter title={index.title} id="documentation">
          <Prose html={index.html} />
        </Chapter>
      )}
      {!found && <Reference about={about} />}
    </>
  ),
})

const Results = ({ found }: { found: Data['found'] & {} }) =>
  found.length === 0 ? (
    <Empty title={common.noResults}>
      <p>{t.tryOtherWords}</p>
    </Empty>
  ) : (
    <Rows label={t.results}>
      {found.map(({ path, title, heading, excerpt }) => (
        <Row
          key={path}
          title={<a href={path}>{heading ? `${title} › ${heading}` : title}</a>}
          facts={<span>{excerpt}</span>}
        />
      ))}
    </Rows>
  )

const Reference = ({ about }: Pick<Data, 'about'>) => (
  <>
    <Chapter title={common.keyboardShortcuts} id="keys">
      <Keys />
    </Chapter>
    <Chapter title={t.api} hint={t.everythingOnThesePages}>
      <ul>
        <li>
          <a href="/api/docs">{common.apiReference}</a>
        </li>
        <li>
          <a href="/api/openapi.json">{t.openApiSpec}</a>
        </li>
      </ul>
    </Chapter>
    {about && (
      <Chapter title={t.thisInstance}>
        <p>{t.mortiseRevisionApiVersion(about.revision, about.version)}</p>
      </Chapter>
    )}
  </>
)
