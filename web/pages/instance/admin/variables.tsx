/** CI variables of every project. */
import { Variables, loadVariables, variableActions, type VariablesData } from '../../../components/Variables.tsx'
import { adminFrame } from '../../../layout/settings.tsx'
import { page as declare } from '../../../page.ts'

export const page = declare<VariablesData>({
  frame: adminFrame,
  signedIn: true,
  load: (request) => loadVariables('instance', request),
  title: () => 'CI/CD variables',
  actions: variableActions('instance'),
  View: ({ variables, edited, settings, address }) => (
    <>
      <h1>CI/CD variables</h1>
      <p class="quiet">Available to jobs of all projects.</p>
      <Variables place="instance" {...{ variables, edited, settings, address }} />
    </>
  ),
})
