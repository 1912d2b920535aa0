import { resourceTokensPage } from '../../../components/resource-tokens.tsx'

export const page = resourceTokensPage('group')
