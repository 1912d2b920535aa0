/** Every runner of the instance; runners created here take jobs of all projects. */
import type { Listed, Records } from '../../../api.ts'
import { Runners, runnerActions } from '../../../components/Runners.tsx'
import { Pages } from '../../../components/lists.tsx'
import { listPage } from '../../../fields.ts'
import { adminFrame } from '../../../layout/settings.tsx'
import { page as declare } from '../../../page.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/admin.ts'

interface Data {
  runners: Listed<Records['Runner'][]>
}

export const page = declare<Data>({
  signedIn: true,
  frame: adminFrame,
  load: ({ api, query }) => ({ runners: api.list('/runners/all', listPage(query)) }),
  title: () => common.runners,
  actions: runnerActions('instance'),
  View: ({ runners, me }) => (
    <Runners
      scope="instance"
      runners={runners.items}
      server={me!.web_url.slice(0, -me!.username.length - 1)}
      me={me}
      note={<p class="quiet">{t.instanceRunnersRunJobs}</p>}
      pages={<Pages of={runners} />}
    />
  ),
})
