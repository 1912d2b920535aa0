import { groupSettingsFrame, projectSettingsFrame } from '../../layout/settings.tsx'
import type { Drawn, Frame } from '../../page.ts'

export type ServiceScope = 'project' | 'group'

export const servicesFrame = (scope: ServiceScope): Frame =>
  scope === 'project' ? projectSettingsFrame : groupSettingsFrame

export const servicesAddress = (scope: ServiceScope, { id }: Drawn['params']) =>
  `${scope === 'project' ? '' : '/groups'}/${id}/-/settings/integrations`
