/** Deploy tokens for the repositories of all projects of a group. */
import type { Records } from '../../../api.ts'
import { DeployTokens, deployTokenActions } from '../../../components/DeployTokens.tsx'
import type { InGroup } from '../../../layout/group.tsx'
import { groupSettingsFrame } from '../../../layout/settings.tsx'
import { page as declare } from '../../../page.ts'
import * as common from '../../../texts/common.ts'

interface Data {
  tokens: Records['DeployToken'][]
}

export const page = declare<Data, InGroup>({
  frame: groupSettingsFrame,
  signedIn: true,
  load: ({ api, params }) => ({
    tokens: api.get('/groups/{id}/deploy_tokens', { id: params.id!, active: true, per_page: 100 }),
  }),
  title: () => common.repositorySettings,
  View: ({ tokens }) => (
    <>
      <h1>{common.repositorySettings}</h1>
      <DeployTokens tokens={tokens} />
    </>
  ),
  actions: deployTokenActions('group'),
})
