import { groupSettingsFrame, projectSettingsFrame } from '../../layout/settings.tsx'
import type { Drawn, Frame } from '../../page.ts'

export type ServiceScope = 'project' | 'group'

export const servicesFrame = (place: ServiceScope): Frame =>
  place === 'project' ? projectSettingsFrame : groupSettingsFrame

export const servicesAddress = (place: ServiceScope, { id }: Drawn['params']) =>
  `${place === 'project' ? '' : '/groups'}/${id}/-/settings/integrations`
