/** CI variables of every project. */
import { Variables, loadVariables, variableActions, type VariablesData } from '../../../components/Variables.tsx'
import { adminFrame } from '../../../layout/settings.tsx'
import { page as declare } from '../../../page.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/admin.ts'

export const page = declare<VariablesData>({
  frame: adminFrame,
  signedIn: true,
  load: (request) => loadVariables('instance', request),
  title: () => common.ciCdVariables,
  actions: variableActions('instance'),
  View: ({ variables, edited, settings, address }) => (
    <>
      <h1>{common.ciCdVariables}</h1>
      <p class="quiet">{t.availableToJobsOfAllProjects}</p>
      <Variables level="instance" {...{ variables, edited, settings, address }} />
    </>
  ),
})
