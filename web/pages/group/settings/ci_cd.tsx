/** CI variables and runners for all projects of a group. */
import type { Records } from '../../../api.ts'
import { Runners, runnerActions } from '../../../components/Runners.tsx'
import { Variables, loadVariables, variableActions, type VariablesData } from '../../../components/Variables.tsx'
import type { Group, InGroup } from '../../../layout/group.tsx'
import { groupSettingsFrame } from '../../../layout/settings.tsx'
import { page as declare } from '../../../page.ts'
import * as t from '../../../texts/ci.ts'

interface Data extends VariablesData {
  runners: Records['Runner'][]
}

export const page = declare<Data, InGroup>({
  frame: groupSettingsFrame,
  signedIn: true,
  load(request) {
    const { api, params } = request
    return {
      ...loadVariables('group', request),
      runners: api.get('/groups/{id}/runners', { id: params.id!, type: 'group_type', per_page: 100 }),
    }
  },
  title: () => t.ciCdSettings,
  actions: { ...variableActions('group'), ...runnerActions('group') },
  View: ({ group, variables, edited, settings, runners, address, me }) => (
    <>
      <h1>{t.ciCdSettings}</h1>
      <p class="quiet">{t.appliesToAllProjects}</p>
      <Variables level="group" {...{ variables, edited, settings, address }} />
      <Runners scope="group" runners={runners} server={serverOf(group)} me={me} />
    </>
  ),
})

const serverOf = ({ web_url, full_path }: Group) => web_url.slice(0, -`/groups/${full_path}`.length)
