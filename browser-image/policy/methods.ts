/**
 * Allow-list of the DevTools methods that clients may use: those about what a page is, shows and does, and those that
 * Playwright and Puppeteer send. Any other method is refused. That excludes above all methods that read or change the
 * machine (files, processes, ports, extensions, installed apps). It also excludes methods that switch off the browser
 * or its egress policy, that give a page access to DevTools (`Target.exposeDevToolsProtocol`), or that bypass these
 * checks (`Target.sendMessageToTarget`). Some listed methods have conditions as well; see `rules.ts`.
 */

/** Domains that concern one page and its script engine, and reach nothing beyond it. */
const wholeDomains = [
  'Accessibility',
  'Animation',
  'CacheStorage',
  'Console',
  'CSS',
  'Debugger',
  'DOMDebugger',
  'DOMSnapshot',
  'DOMStorage',
  'Fetch',
  'IndexedDB',
  'Log',
  'Performance',
  'PerformanceTimeline',
  'Profiler',
  'Runtime',
  'ServiceWorker',
] as const;

/** Permitted methods of the other domains, without the domain's name. */
const methodsByDomain: Readonly<Record<string, string>> = {
  Audits: 'enable disable',
  Browser:
    'cancelDownload close getVersion getWindowBounds getWindowForTarget grantPermissions resetPermissions ' +
    'setContentsSize setDownloadBehavior setPermission setWindowBounds',
  DOM:
    'describeNode disable enable focus getAttributes getBoxModel getContainerForNode getContentQuads getDocument ' +
    'getFlattenedDocument getFrameOwner getNodeForLocation getNodesForSubtreeByStyle getOuterHTML performSearch ' +
    'getSearchResults discardSearchResults pushNodesByBackendIdsToFrontend querySelector querySelectorAll ' +
    'removeAttribute removeNode requestChildNodes requestNode resolveNode scrollIntoViewIfNeeded setAttributeValue ' +
    'setAttributesAsText setFileInputFiles setInspectedNode setNodeValue setOuterHTML',
  Emulation:
    'canEmulate clearDeviceMetricsOverride clearGeolocationOverride clearIdleOverride getScreenInfos ' +
    'resetPageScaleFactor setAutoDarkModeOverride setCPUThrottlingRate setDefaultBackgroundColorOverride ' +
    'setDeviceMetricsOverride setEmitTouchEventsForMouse setEmulatedMedia setEmulatedVisionDeficiency ' +
    'setFocusEmulationEnabled setGeolocationOverride setIdleOverride setLocaleOverride setPageScaleFactor ' +
    'setScriptExecutionDisabled setScrollbarsHidden setTimezoneOverride setTouchEmulationEnabled ' +
    'setUserAgentOverride setVirtualTimePolicy',
  HeapProfiler: 'collectGarbage disable enable takeHeapSnapshot',
  Input:
    'cancelDragging dispatchDragEvent dispatchKeyEvent dispatchMouseEvent dispatchTouchEvent ' +
    'emulateTouchFromMouseEvent imeSetComposition insertText setIgnoreInputEvents setInterceptDrags ' +
    'synthesizePinchGesture synthesizeScrollGesture synthesizeTapGesture',
  Inspector: 'disable enable',
  IO: 'close read',
  Network:
    'clearBrowserCache clearBrowserCookies deleteCookies disable emulateNetworkConditions ' +
    'emulateNetworkConditionsByRule enable getAllCookies getCookies getRequestPostData getResponseBody ' +
    'loadNetworkResource overrideNetworkState searchInResponseBody setAttachDebugStack setBlockedURLs ' +
    'setBypassServiceWorker setCacheDisabled setCookie setCookies setExtraHTTPHeaders setUserAgentOverride',
  Overlay:
    'disable enable hideHighlight highlightNode highlightQuad highlightRect setShowViewportSizeOnResize',
  Page:
    'addScriptToEvaluateOnNewDocument bringToFront captureScreenshot captureSnapshot close createIsolatedWorld ' +
    'disable enable getAppManifest getFrameTree getLayoutMetrics getNavigationHistory getResourceContent ' +
    'getResourceTree handleJavaScriptDialog navigate navigateToHistoryEntry printToPDF reload ' +
    'removeScriptToEvaluateOnNewDocument resetNavigationHistory screencastFrameAck setBypassCSP ' +
    'setDocumentContent setFontFamilies setFontSizes setInterceptFileChooserDialog setLifecycleEventsEnabled ' +
    'setWebLifecycleState startScreencast stopLoading stopScreencast',
  Security: 'disable enable setIgnoreCertificateErrors',
  Storage:
    'clearCookies clearDataForOrigin clearDataForStorageKey getCookies getStorageKey getStorageKeyForFrame ' +
    'getUsageAndQuota setCookies',
  Target:
    'activateTarget attachToBrowserTarget attachToTarget autoAttachRelated closeTarget createBrowserContext ' +
    'createTarget detachFromTarget disposeBrowserContext getBrowserContexts getTargetInfo getTargets setAutoAttach ' +
    'setDiscoverTargets',
};

const methods = new Set(
  Object.entries(methodsByDomain).flatMap(([domain, names]) =>
    names.split(' ').map((name) => `${domain}.${name}`),
  ),
);

const domains: ReadonlySet<string> = new Set(wholeDomains);

/** Returns true if clients may use the method, subject to its rule in `rules.ts`. */
export const isListed = (method: string): boolean =>
  methods.has(method) || domains.has(method.slice(0, Math.max(0, method.indexOf('.'))));
