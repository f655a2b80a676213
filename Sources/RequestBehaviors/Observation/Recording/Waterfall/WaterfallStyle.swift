/// The style of a waterfall: light and dark, system fonts, and percentages only, so that it fits every width.
///
/// Colors say the phase; red says a failure and nothing else. Rows below the window are laid out when they are seen.
enum WaterfallStyle {
  static let css = """
    :root{color-scheme:light dark;--bg:#f6f5f2;--card:#fff;--ink:#1d1f23;--soft:#5c6067;--faint:#6b6f75;
    --line:#e9e7e2;--grid:#f1efeb;--hover:#faf9f7;
    --dns:#55a89a;--tcp:#dba63c;--tls:#a184d6;--ttfb:#b9caea;--recv:#3d6fd6;--held:#c6c2b8;--bad:#c5352a;
    --badsoft:#f6d3cf;--good:#217a4a;--life:#e4e2dc;--area:#dfe7f6;--area2:#9db6e6}
    @media(prefers-color-scheme:dark){:root{--bg:#111316;--card:#181b1f;--ink:#e7e8ea;--soft:#9fa5ad;
    --faint:#848a93;--line:#272b31;--grid:#1f2328;--hover:#1d2126;
    --dns:#4fa596;--tcp:#d19f3d;--tls:#9a80d0;--ttfb:#3b5075;--recv:#6a98f0;--held:#4b515a;--bad:#f0685c;
    --badsoft:#56302d;--good:#57bd86;--life:#2c3037;--area:#1f2b40;--area2:#46608f}}
    *{box-sizing:border-box}
    body{margin:0;background:var(--bg);color:var(--ink);font:13px/1.35 system-ui,-apple-system,"Segoe UI",Roboto,
    "Noto Sans",sans-serif;-webkit-font-smoothing:antialiased}
    main{max-width:1480px;margin:0 auto;padding:28px 28px 40px}
    header{display:flex;justify-content:space-between;align-items:flex-end;gap:32px;flex-wrap:wrap;
    margin-bottom:20px}
    h1{font-size:22px;font-weight:650;letter-spacing:-.012em;margin:0}
    header p{margin:3px 0 0;color:var(--soft)}
    .figs{display:flex;gap:26px}
    .fig b{display:block;font-size:19px;font-weight:600;letter-spacing:-.01em;font-variant-numeric:tabular-nums}
    .fig span{color:var(--soft);font-size:11.5px}
    .fig.err b{color:var(--bad)}
    .chart{background:var(--card);border:1px solid var(--line);border-radius:10px;overflow:hidden}
    .axis,summary{display:grid;grid-template-columns:270px minmax(0,1fr) 104px}
    .axis{border-bottom:1px solid var(--line);color:var(--soft);font-size:11.5px}
    .axis .name{align-self:center}
    .axis .name b{font-weight:400;color:var(--faint);margin-left:6px}
    .axis .lane{height:66px}
    .axis svg{position:absolute;left:0;top:4px;width:100%;height:40px;display:block}
    .axis path{fill:var(--area);stroke:var(--area2);stroke-width:1;vector-effect:non-scaling-stroke}
    .axis .lane span{position:absolute;bottom:4px;padding-left:5px;font-variant-numeric:tabular-nums;
    white-space:nowrap}
    .name{padding:0 14px 0 16px;min-width:0}
    .lane{position:relative;background-image:linear-gradient(90deg,var(--grid) 1px,transparent 1px);
    background-size:var(--step) 100%}
    .end{padding:0 16px 0 12px;text-align:right;font-variant-numeric:tabular-nums}
    details{border-bottom:1px solid var(--line);content-visibility:auto;contain-intrinsic-size:auto 43px}
    details:last-child{border-bottom:0}
    summary{list-style:none;cursor:pointer;min-height:40px;--row:var(--card)}
    .chev{width:8px;height:8px;flex:none;fill:none;stroke:var(--faint);stroke-width:1.3;margin:0 -4px 0 -4px;
    align-self:flex-start;margin-top:5px;transition:transform .12s}
    details[open] .chev{transform:rotate(90deg)}
    summary::-webkit-details-marker{display:none}
    summary:hover,details[open]>summary{background-color:var(--hover);--row:var(--hover)}
    summary:focus-visible{outline:2px solid var(--recv);outline-offset:-2px}
    summary .name{display:flex;align-items:baseline;gap:8px;padding-top:8px;white-space:nowrap;overflow:hidden}
    .no{color:var(--faint);font-size:11px;min-width:18px;flex:none;text-align:right;
    font-variant-numeric:tabular-nums}
    .verb{color:var(--soft);font:600 10.5px ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace;
    letter-spacing:.02em;flex:none}
    .path{font-weight:550;overflow:hidden;text-overflow:ellipsis;min-width:40px}
    .path s{text-decoration:none;font-weight:400;color:var(--faint)}
    .name small{color:var(--soft);font-size:11px;overflow:hidden;text-overflow:ellipsis}
    .child .no{margin-left:16px}
    .child .name{position:relative}
    .child .name::before{content:"";position:absolute;left:31px;top:-1px;width:8px;height:18px;
    border:solid var(--held);border-width:0 0 1px 1px;border-bottom-left-radius:4px;opacity:.7}
    .failed .path{color:var(--bad)}
    summary .end{padding-top:7px}
    summary .end b{font-weight:550;display:block;white-space:nowrap}
    summary .end small,.end small{color:var(--soft);font-size:11px;white-space:nowrap}
    small.err,.code.err,td.err,.cap.err{color:var(--bad)!important}
    summary .lane{min-height:calc(26px + 16px*var(--n))}
    .lane>i,.send i,.send b{position:absolute;display:block}
    .life{top:15px;height:2px;background:var(--life);border-radius:1px}
    .held{top:12px;height:8px;border-radius:2px;background:repeating-linear-gradient(120deg,var(--held) 0 1.5px,
    transparent 1.5px 5px)}
    .send{position:absolute;top:calc(9px + 16px*var(--lane));height:14px;border-radius:3px;overflow:hidden;
    min-width:3px;background:var(--ttfb)}
    .send i{top:0;height:100%}
    .dns{background:var(--dns)}.tcp{background:var(--tcp)}.tls{background:var(--tls)}.ttfb{background:var(--ttfb)}
    .recv{background:var(--recv)}
    .send.flow .recv{background:color-mix(in srgb,var(--recv) 30%,var(--card))}
    .send b{width:2px;margin-left:-1px;top:0;height:100%;background:var(--recv)}
    .send.bad{background:var(--badsoft)}.send.bad .ttfb{background:var(--badsoft)}
    .send.bad .recv{background:var(--bad)}
    .send.bad{box-shadow:inset -3px 0 0 var(--bad)}
    .send.cut{-webkit-mask:linear-gradient(90deg,#000 70%,transparent);mask:linear-gradient(90deg,#000 70%,
    transparent)}
    .code{position:absolute;top:calc(8px + 16px*var(--lane,0));padding:0 5px 0 6px;line-height:16px;font-size:11px;
    font-weight:600;white-space:nowrap;font-variant-numeric:tabular-nums}
    .code{background:var(--row);margin-left:0}.code.dim{color:var(--soft);font-weight:400}
    .code{max-width:100%;overflow:hidden;text-overflow:ellipsis}.code em{font-style:normal;color:var(--faint);
    margin-left:3px}
    .code.ok{color:var(--good)}
    .code.after{padding-left:11px;background:none}
    .cap{position:absolute;bottom:2px;font-size:10.5px;line-height:13px;color:var(--soft);white-space:nowrap;
    overflow:hidden;text-overflow:ellipsis;padding-left:1px}
    .gem{position:absolute;top:12px;width:8px;height:8px;margin-left:-4px;transform:rotate(45deg);
    background:var(--good);border-radius:1.5px}
    .stop{position:absolute;top:11px;width:10px;height:10px;margin-left:-5px;border:2.5px solid var(--bad);
    border-radius:50%}
    .more{padding:8px 16px 18px 42px;background:var(--hover);overflow-x:auto}
    .more h4{margin:14px 0 5px;font-size:11.5px;font-weight:600;color:var(--soft)}
    table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:12px;min-width:860px}
    th{font-weight:400;color:var(--soft);text-align:right;padding:3px 12px 3px 0;
    border-bottom:1px solid var(--line);white-space:nowrap}
    td{text-align:right;padding:4px 12px 4px 0;white-space:nowrap}
    th:nth-child(-n+2),td:nth-child(-n+2){text-align:left}
    td.url{font:11.5px ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace;max-width:420px;
    overflow:hidden;text-overflow:ellipsis}
    td.err{font-weight:600}td.dim{color:var(--ink)}
    .two{display:flex;gap:48px;flex-wrap:wrap}
    ol{list-style:none;margin:0;padding:0;font-size:12px}
    ol li{display:grid;grid-template-columns:58px auto 1fr;gap:10px;padding:2px 0}
    ol time{color:var(--soft);text-align:right;font-variant-numeric:tabular-nums}
    ol b{font-weight:550}
    .heads{display:flex;gap:40px}
    dl{display:grid;grid-template-columns:auto 1fr;gap:2px 12px;margin:0;font:11.5px ui-monospace,SFMono-Regular,
    Menlo,"DejaVu Sans Mono",monospace}
    dt{color:var(--soft)}dd{margin:0;max-width:300px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
    dd.hid{color:var(--faint);letter-spacing:.04em;font-size:10.5px}
    .note{padding:10px 16px;color:var(--soft)}
    .why{color:var(--bad);margin:10px 0 4px}
    footer{display:flex;gap:20px;flex-wrap:wrap;margin:16px 2px 0;color:var(--soft);font-size:11.5px}
    footer span{display:flex;align-items:center;gap:6px}
    .k{display:inline-block;position:static!important;width:14px;height:10px;border-radius:2px;margin:0}
    .k.tick{width:2px;background:var(--recv);border-radius:0}.k.gem{width:8px;height:8px}.k.stop{width:10px;
    height:10px;border-radius:50%}
    @media(max-width:820px){main{padding:14px 10px}.axis,summary{grid-template-columns:132px minmax(0,1fr) 78px}.no,
    .name small{display:none}.name{padding-left:10px}.child .name{padding-left:22px}.child .name::before{left:10px}
    .cap,.code em,.axis .name b{display:none}.axis .lane span:nth-of-type(even){display:none}.figs{gap:16px;
    flex-wrap:wrap}.two,.heads{gap:16px;flex-direction:column}.end{padding-right:10px}
    .child .chev{visibility:hidden}}
    """
}
