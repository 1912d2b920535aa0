/** Where to look for help: what the instance says, and what the program knows of itself. */
import type { Records } from '../../api.ts'
import { Keys } from '../../components/Keys.tsx'
import { Chapter } from '../../components/settings.tsx'
import { Prose } from '../../components/State.tsx'
import { page as declare } from '../../page.ts'

interface Data {
  help: Records['Help']
  /** For whoever is signed in. */
  about: Records['Metadata'] | null
}

export const page = declare<Data>({
  load: ({ api, me }) => ({
    help: api.get('/application/help', {}),
    about: me ? api.maybe('/metadata', {}) : null,
  }),
  title: () => 'Help',
  View: ({ help, about }) => (
    <>
      <h1>Help</h1>
      {help.html && <Prose html={help.html} />}
      {help.support_url && (
        <p>
          <a class="button" href={help.support_url} rel="noreferrer">
            Ask for support
          </a>
        </p>
      )}
      <Chapter title="Keys" id="keys">
        <Keys />
      </Chapter>
      <Chapter title="API" hint="All that these pages do, programs can do too.">
        <ul>
          <li>
            <a href="/api/docs">Every call, explained</a>
          </li>
          <li>
            <a href="/api/openapi.json">The same for machines (OpenAPI)</a>
          </li>
        </ul>
      </Chapter>
      {about && (
        <Chapter title="This instance">
          <p>
            It runs {about.revision} and speaks the API of release {about.version}.
          </p>
        </Chapter>
      )}
    </>
  ),
})
